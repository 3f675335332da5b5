// cron.ts - a cron expression in plain words.
//
// SPDX-License-Identifier: Apache-2.0
//
// What would need a long sentence has none: then the expression is shown as it was written.  The times themselves
// are the server's.

interface FieldKind { low: number; high: number; names?: string[] }

const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const FIELDS: FieldKind[] = [{ low: 0, high: 59 }, { low: 0, high: 23 }, { low: 1, high: 31 }, { low: 1, high: 12, names: MONTHS }, { low: 0, high: 7, names: DAYS }];
const SHORT: Record<string, string> = { "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *" };
const TIMES_MAX = 4;

/** The values of a field in order; null: it restricts nothing; undefined: it is not understood. */
function valuesOf(text: string, { low, high, names }: FieldKind): number[] | null | undefined {
    if (text === "*") return null;
    const number = (word: string): number => {
        const at = names ? names.findIndex((name) => name.slice(0, 3).toUpperCase() === word.toUpperCase()) : -1;
        return at >= 0 ? at + (names === MONTHS ? 1 : 0) : /^\d+$/.test(word) ? Number(word) : NaN;
    };
    const found = new Set<number>();
    for (const part of text.split(",")) {
        const [range = "", step = "1"] = part.split("/"), [first = "", last] = range.split("-");
        const from = range === "*" ? low : number(first), by = Number(step);
        const to = range === "*" ? (names === DAYS ? 6 : high) : last !== undefined ? number(last) : part.includes("/") ? high : from;
        if (!(from >= low && to <= high && from <= to && by >= 1)) return undefined;
        for (let value = from; value <= to; value += by) found.add(names === DAYS ? value % 7 : value);
    }
    const place = (value: number): number => names === DAYS ? (value + 6) % 7 : value;      // weeks begin on Monday
    return [...found].sort((a, b) => place(a) - place(b));
}

const two = (value: number): string => String(value).padStart(2, "0");
const listed = (words: string[]): string => words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
const ordinal = (day: number): string => `${day}${[11, 12, 13].includes(day) ? "th" : { 1: "st", 2: "nd", 3: "rd" }[day % 10] ?? "th"}`;
const isRow = (values: number[], whole: number): boolean => values.length > 2 && values.every((it, index) => it === (values[0]! + index) % whole);

/** The distance, if they are 0, n, 2n ... and the whole is a multiple of it. */
function stepOf(values: number[], whole: number): number {
    const step = values[1]! - values[0]!;
    return values[0] === 0 && values.length > 1 && whole % step === 0 && values.length === whole / step && values.every((it, index) => it === index * step) ? step : 0;
}

/** "every 5 minutes", "at 02:30", "every 2 hours at :15". */
function timeWords(minutes: number[] | null, hours: number[] | null): string | null {
    const step = minutes ? stepOf(minutes, 60) : 1, often = step === 1 ? "every minute" : `every ${step} minutes`;
    if (!hours) return step ? often : minutes!.length > TIMES_MAX ? null : `every hour at ${listed(minutes!.map((it) => `:${two(it)}`))}`;
    if (minutes && minutes.length * hours.length <= TIMES_MAX) return `at ${listed(hours.flatMap((hour) => minutes.map((minute) => `${two(hour)}:${two(minute)}`)))}`;
    if (minutes?.length === 1 && stepOf(hours, 24)) return `every ${stepOf(hours, 24)} hours at :${two(minutes[0]!)}`;
    if (!isRow(hours, 24) && hours.length > 1) return null;
    if (minutes?.length === 1) return `every hour from ${two(hours[0]!)}:${two(minutes[0]!)} to ${two(hours.at(-1)!)}:${two(minutes[0]!)}`;
    return step ? `${often} from ${two(hours[0]!)}:00 to ${two(hours.at(-1)!)}:59` : null;
}

function weekWords(days: number[]): string {
    if (days.length === 7) return "";
    if (isRow(days, 7)) return `${DAYS[days[0]!]} to ${DAYS[days.at(-1)!]}`;
    return `on ${listed(days.map((it) => `${DAYS[it]}s`))}`;
}

/** Days of the month and of the week: either is enough if both are restricted. */
function dayWords(month: number[] | null, week: number[] | null): string | null {
    if (month && month.length > TIMES_MAX) return null;
    const ofMonth = month ? `on the ${listed(month.map(ordinal))}` : "";
    return week && month ? `${ofMonth} and ${weekWords(week)}` : week ? weekWords(week) : ofMonth;
}

export function cronWords(cron: string): string | null {
    const fields = (SHORT[cron.trim()] ?? cron.trim()).split(/\s+/);
    if (fields.length !== 5) return null;
    const values = fields.map((text, index) => valuesOf(text, FIELDS[index]!));
    const isRestrictedTwice = fields[2] !== "*" && fields[4] !== "*";
    if (values.some((it) => it === undefined) || (isRestrictedTwice && (fields[2]!.startsWith("*") || fields[4]!.startsWith("*")))) return null;
    const [minutes, hours, ofMonth, months, ofWeek] = values as (number[] | null)[];
    const time = timeWords(minutes!, hours!), day = dayWords(ofMonth!, ofWeek!);
    if (time === null || day === null || (months && months.length > TIMES_MAX)) return null;
    const isOften = time.startsWith("every"), when = isOften ? [time, day].filter(Boolean).join(", ") : `${day || "every day"} ${time}`;
    return months ? `${when}, in ${listed(months.map((it) => MONTHS[it - 1]!))}` : when;
}
