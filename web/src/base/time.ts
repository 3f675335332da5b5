// time.ts - moments and durations as texts.
//
// SPDX-License-Identifier: Apache-2.0

export type TimeForm = "relative" | "local" | "utc" | "zone";

const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

/** As the command line prints them: 21ms, 1.3s, 2m 5s, 3h 12m, 6d 4h. */
export function duration(ms: number): string {
    const pair = (large: number, one: string, small: number, other: string) =>
        small ? `${large}${one} ${small}${other}` : `${large}${one}`;
    if (ms < SECOND) return `${Math.max(0, Math.round(ms))}ms`;
    if (ms < MINUTE) {
        const tenths = Math.floor(ms / 100);
        return tenths % 10 && ms < 10 * SECOND ? `${Math.floor(tenths / 10)}.${tenths % 10}s` : `${Math.floor(ms / SECOND)}s`;
    }
    if (ms < HOUR) return pair(Math.floor(ms / MINUTE), "m", Math.floor((ms % MINUTE) / SECOND), "s");
    if (ms < DAY) return pair(Math.floor(ms / HOUR), "h", Math.floor((ms % HOUR) / MINUTE), "m");
    return pair(Math.floor(ms / DAY), "d", Math.floor((ms % DAY) / HOUR), "h");
}

const UNITS: Record<string, number> = { ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/** "90s", "1h30m", "7d" in milliseconds, as the command line reads them; null: it is none. */
export function durationMs(text: string): number | null {
    const bare = text.replaceAll(" ", "");
    if (!/^(\d+(ms|[smhd]))+$/.test(bare)) return null;
    let ms = 0;
    for (const [, count, unit] of bare.matchAll(/(\d+)(ms|[smhd])/g)) ms += Number(count) * UNITS[unit!]!;
    return Number.isSafeInteger(ms) ? ms : null;
}

/** All of it, so that it can be read back: 1d 2h, never rounded. */
export function exactDuration(ms: number): string {
    const parts: string[] = [];
    let rest = ms;
    for (const [unit, size] of Object.entries(UNITS).reverse()) {
        const count = Math.floor(rest / size);
        if (count) parts.push(`${count}${unit}`);
        rest -= count * size;
    }
    return parts.join(" ") || "0s";
}

function amount(ms: number): string {
    if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
    if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
    if (ms < DAY) return `${Math.floor(ms / HOUR)} h`;
    const days = Math.floor(ms / DAY);
    return days === 1 ? "1 day" : `${days} days`;
}

export function relative(at: number, now: number): string {
    const distance = now - at;
    if (Math.abs(distance) < SECOND) return "now";
    return distance > 0 ? `${amount(distance)} ago` : `in ${amount(-distance)}`;
}

/** How long until the relative text may change: each second, each 15 s, each minute. */
export function nextTick(distance: number): number {
    const size = Math.abs(distance);
    return size < MINUTE ? SECOND : size < HOUR ? 15 * SECOND : MINUTE;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Making a format takes longer than using it. */
function formatOf(zone: string | undefined): Intl.DateTimeFormat {
    let format = formats.get(zone ?? "");
    if (!format) {
        format = new Intl.DateTimeFormat("en-GB", {
            day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23",
            ...(zone ? { timeZone: zone } : {}),
        });
        formats.set(zone ?? "", format);
    }
    return format;
}

export function inZone(at: number, zone?: string): string {
    const parts = formatOf(zone).formatToParts(at);
    const part = (type: string) => parts.find((it) => it.type === type)?.value ?? "";
    return `${part("day")} ${part("month")} ${part("hour")}:${part("minute")}:${part("second")}`;
}

export const utc = (at: number): string => new Date(at).toISOString().slice(0, 19).replace("T", " ") + "Z";

const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
export const localZone = (): string => here;

export function formatTime(at: number, now: number, form: TimeForm, zone: string): string {
    switch (form) {
    case "relative": return relative(at, now);
    case "local": return inZone(at);
    case "utc": return utc(at);
    case "zone": return inZone(at, zone);
    }
}

/** All three forms, for the text behind a time. */
export const everyForm = (at: number, now: number): string =>
    `${relative(at, now)} · ${inZone(at)} (${localZone()}) · ${utc(at)}`;

/** "-1h", "-24h", "-7d" or a time; null: neither. */
export function moment(text: string, now: number): number | null {
    const found = /^-(\d+)([mhd])$/.exec(text);
    if (found) return now - Number(found[1]) * (found[2] === "m" ? MINUTE : found[2] === "h" ? HOUR : DAY);
    const at = Date.parse(text);
    return Number.isNaN(at) ? null : at;
}
