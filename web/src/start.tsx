// start.tsx - the frame around every screen: navigation, search, live state, keys.
//
// SPDX-License-Identifier: Apache-2.0
import { useSignal } from "@preact/signals";
import { render, type ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ask, asking, askLater, onRetry, signOut, token, trouble, troubleUntil } from "./base/api";
import { askClock, now, startClock } from "./base/clock";
import { heardAt, isHeld, isPaused, onDigest, pause, retryAt, startLive, state } from "./base/live";
import { go, goBack, path, query, setQuery } from "./base/place";
import { one } from "./base/query";
import { hasShortcuts, isLiveWanted, theme, timeForm } from "./base/settings";
import { isId } from "./base/text";
import { inZone } from "./base/time";
import type { Found } from "./base/types";
import { askWho, hasFeature, may, me } from "./base/who";
import { bulks, openBulk } from "./base/bulks";
import { copyText, Guard, Loading, Status, Text, toast, Toasts, VirtualMark } from "./parts/bits";
import { Icon } from "./parts/icons";
import { later } from "./parts/later";
import { moveFocus } from "./parts/list";
import { sheet, Sheets } from "./parts/sheet";
import Instances from "./screens/instances";
import Overview from "./screens/overview";

// ---- screens ---------------------------------------------------------------------------------------

const work = () => import("./screens/work"), flows = () => import("./screens/workflows"), more = () => import("./screens/more"), many = () => import("./parts/bulk");
const Instance = later(work, "Instance"), Jobs = later(work, "Jobs"), Job = later(work, "Job"), Workflows = later(flows), Workflow = later(flows, "Workflow"), Diff = later(flows, "Diff");
const Approvals = later(more, "Approvals"), Dead = later(more, "Dead"), Workers = later(more, "Workers"), Settings = later(more, "Settings"), SignIn = later(more, "SignIn"), Schedules = later(more, "Schedules"), Schedule = later(more, "Schedule");
const BulkScreen = later(many), BulkChip = later(many, "BulkChip"), BulkSheet = later(many, "BulkSheet");

interface Entry { id: string; to: string; label: string; icon: string; needs: string; key: string; badge?: "approvals" | "dead"; feature?: string }
const NAV: Entry[] = [
    { id: "overview", to: "", label: "Overview", icon: "home", needs: "/v1/instances", key: "o" },
    { id: "instances", to: "instances", label: "Instances", icon: "list", needs: "/v1/instances", key: "i" },
    { id: "jobs", to: "jobs", label: "Jobs", icon: "jobs", needs: "/v1/jobs", key: "j" },
    { id: "approvals", to: "approvals", label: "Approvals", icon: "head", needs: "/v1/approvals", key: "a", badge: "approvals" },
    { id: "dead", to: "dead", label: "Dead letters", icon: "tray", needs: "/v1/dlq", key: "d", badge: "dead" },
    { id: "workflows", to: "workflows", label: "Workflows", icon: "flow", needs: "/v1/workflows", key: "w" },
    { id: "functions", to: "functions", label: "Functions", icon: "code", needs: "/v1/workflows", key: "f" },
    { id: "schedules", to: "schedules", label: "Schedules", icon: "clock", needs: "/v1/schedules", key: "c", feature: "schedules" },
    { id: "workers", to: "workers", label: "Workers", icon: "workers", needs: "/v1/workers", key: "k" },
    { id: "settings", to: "settings", label: "Settings", icon: "gear", needs: "", key: "s" },
];

const ROUTES: [RegExp, (parts: string[]) => ComponentChildren, string][] = [
    [/^$/, () => <Overview />, "Overview"],
    [/^instances$/, () => <Instances />, "Instances"],
    [/^instances\/([^/]+)$/, ([id]) => <Instance key={id} id={id!} />, "Instance"],
    [/^jobs$/, () => <Jobs />, "Jobs"],
    [/^jobs\/([^/]+)$/, ([id]) => <Job key={id} id={id!} />, "Job"],
    [/^approvals$/, () => <Approvals />, "Approvals"],
    [/^dead$/, () => <Dead />, "Dead letters"],
    [/^(workflow|function)s$/, ([kind]) => <Workflows key={kind!} kind={kind!} />, "Workflows"],
    [/^workflows\/([^/]+)\/diff$/, ([name]) => <Diff name={name!} />, "Versions"],
    [/^(workflow|function)s\/([^/]+)\/([^/]+)$/, ([kind, name, version]) => <Workflow key={`${name}/${version}`} kind={kind!} name={name!} version={version!} />, "Workflow"],
    [/^schedules$/, () => <Schedules />, "Schedules"],
    [/^schedules\/([^/]+)$/, ([name]) => <Schedule key={name!} name={name!} />, "Schedule"],
    [/^workers$/, () => <Workers />, "Workers"],
    [/^settings$/, () => <Settings />, "Settings"],
    [/^bulk\/([^/]+)$/, ([id]) => <BulkScreen key={id!} id={id!} />, "Bulk action"],
];

function decoded(text: string): string {
    try { return decodeURIComponent(text); } catch { return text; }
}

function Screen() {
    const place = path.value.replace(/\/$/, "");
    for (const [pattern, draw, title] of ROUTES) {
        const found = pattern.exec(place);
        if (found) { return <Titled title={title}>{draw(found.slice(1).map(decoded))}</Titled>; }
    }
    return <Titled title="No screen"><section class="empty" data-testid="error" data-code="not_found"><h1>There is no screen here.</h1><p><a href=".">Overview</a></p></section></Titled>;
}

function Titled({ title, children }: { title: string; children: ComponentChildren }) {
    useEffect(() => { document.title = `${title} · Cairn`; }, [title]);
    return <>{children}</>;
}

// ---- the frame -------------------------------------------------------------------------------------

function useBadges(): { approvals: number; dead: number } {
    const [badges, setBadges] = useState({ approvals: 0, dead: 0 });
    useEffect(() => {
        if (!me.value) return undefined;
        const read = () => { if (may("GET", "/v1/needs")) askLater<{ approvals: number; dead: number }>("/v1/needs").then(({ approvals, dead }) => setBadges({ approvals, dead }), () => undefined); };
        read();
        let last = Date.now();
        return onDigest((digest) => {
            if (digest.approvals !== undefined && digest.dead !== undefined) setBadges({ approvals: digest.approvals, dead: digest.dead });
            else if (Date.now() - last > 5000) { last = Date.now(); read(); }
        });
    }, [me.value]);
    return badges;
}

function Nav() {
    const badges = useBadges();
    const isOpen = useSignal(false);
    const here = path.value.split("/")[0];
    const shown = NAV.filter((it) => (!it.needs || may("GET", it.needs)) && (!it.feature || hasFeature(it.feature)));
    const item = (it: Entry) => {
        const count = it.badge ? badges[it.badge] : 0;
        return <a key={it.id} href={it.to || "."} data-testid={`nav-${it.id}`} title={it.label} aria-current={here === it.to ? "page" : undefined} class={["overview", "instances", "approvals", "dead"].includes(it.id) ? "" : "second"} onClick={() => { isOpen.value = false; }}>
            <Icon name={it.icon} /><span>{it.label}</span>{count > 0 && <b class="badge" data-testid={`badge-${it.badge}`}>{count > 999 ? "999+" : count}</b>}</a>;
    };
    return (
        <nav class={isOpen.value ? "nav open" : "nav"} data-testid="nav" aria-label="Screens">
            {shown.map(item)}
            <button type="button" class="nav-more" data-testid="nav-more" aria-expanded={isOpen.value} onClick={() => { isOpen.value = !isOpen.value; }}><Icon name="more" /><span>More</span></button>
        </nav>
    );
}

const placeOf = (it: Found): string => it.kind === "dead letter" ? `dead?record=${it.id}` : it.kind === "instance" ? `instances/${it.id}` : it.kind === "job" ? `jobs/${it.id}` : it.kind === "type" ? `jobs?type=${encodeURIComponent(it.title)}` : `${it.kind}s/${encodeURIComponent(it.title)}/latest`;

/** Of a whole id: one question, where the server can find; else the list of instances says whether it is one. */
async function placeOfId(id: string): Promise<string> {
    const found = may("GET", "/v1/find") ? (await ask<{ items: Found[] }>(`/v1/find?q=${id}`).catch(() => ({ items: [] as Found[] }))).items.find((it) => it.id === id) : undefined;
    if (found) return placeOf(found);
    return `instances/${id}`;
}

function Search() {
    const [text, setText] = useState("");
    const [found, setFound] = useState<Found[] | null>(null);
    const [chosen, setChosen] = useState(0);
    const timer = useRef(0), field = useRef<HTMLInputElement>(null);
    useEffect(() => {
        clearTimeout(timer.current);
        const wanted = text.trim();
        if (wanted.length < 2 && !/^\d$/.test(wanted)) { setFound(null); return; }
        timer.current = setTimeout(() => void find(wanted).then((items) => { setFound(items); setChosen(0); }, () => setFound([])), 200) as unknown as number;
    }, [text]);
    const find = async (wanted: string): Promise<Found[]> => {
        if (!may("GET", "/v1/find")) {
            const page = await ask<{ items: { id: string; key: string | null; status: string }[] }>(`/v1/instances?view=row&limit=5&q=${encodeURIComponent(wanted)}`);
            return page.items.map((it) => ({ kind: "instance", id: it.id, title: it.key ?? it.id, status: it.status }));
        }
        const answer = await ask<{ items: Found[] }>(`/v1/find?q=${encodeURIComponent(wanted)}`);
        const dead: Found[] = /^\d+$/.test(wanted) && may("GET", "/v1/dlq/{id}") ? [{ kind: "dead letter", id: wanted, title: wanted, status: null }] : [];
        return [...answer.items, ...dead];
    };
    const leave = () => { setText(""); setFound(null); field.current?.blur(); };
    const open = async () => {
        const wanted = text.trim();
        const [instance = "", seq] = wanted.split(".");
        if (isId(instance) && seq !== undefined && /^\d+$/.test(seq)) {          // a step's id is its instance's and its place there
            go(`instances/${instance}?step=${seq}`);
        } else if (isId(wanted)) {
            go(await placeOfId(wanted));
        } else {
            const items = await find(wanted).catch(() => [] as Found[]);
            const first = items[chosen] ?? items[0];
            go(first ? placeOf(first) : `instances?has=${encodeURIComponent(wanted)}`);
        }
        leave();
    };
    return (
        <form class="search" role="search" onSubmit={(event) => { event.preventDefault(); if (text.trim()) void open(); }}>
            <Icon name="search" /><input ref={field} type="search" data-testid="search" aria-label="Search" placeholder="id, key, workflow …" value={text} onInput={(event) => setText(event.currentTarget.value)}
                onKeyDown={(event) => {
                    if (event.key === "Escape") leave();
                    else if (found && (event.key === "ArrowDown" || event.key === "ArrowUp")) { event.preventDefault(); setChosen(Math.max(0, Math.min(found.length - 1, chosen + (event.key === "ArrowDown" ? 1 : -1)))); }
                }} /><kbd>/</kbd>
            {found && (
                <div class="results" data-testid="search-results">
                    {found.map((it, index) => <a key={it.kind + it.id} class={index === chosen ? "chosen" : undefined} data-testid="search-result" data-id={it.id} data-kind={it.kind} href={placeOf(it)} onClick={leave}><span class="muted">{it.kind}</span> <Text text={it.title} /> {it.status && <Status status={it.status} />}</a>)}
                    {!found.length && <a data-testid="search-result" data-kind="text" href={`instances?has=${encodeURIComponent(text.trim())}`} onClick={leave}>Search inputs and errors for <b><Text text={text.trim()} /></b></a>}
                </div>
            )}
        </form>
    );
}

const TIME_NAMES = { relative: "relative", local: "local", utc: "UTC", zone: "zone" } as const;
export function nextTimeForm(): void {
    const order = ["relative", "local", "utc"] as const;
    timeForm.value = order[(order.indexOf(timeForm.value as "local") + 1) % order.length]!;
}

function Top() {
    const shown = isPaused.value || isHeld.value ? "paused" : state.value;
    const label = { live: "live", paused: "paused", connecting: "connecting", lost: "not live", off: "not live" }[shown];
    const themes = ["system", "light", "dark"] as const;
    return (
        <header class="top">
            <a class="brand" href="." aria-label="Cairn, overview">Cairn</a>
            <Search />{bulks.value.length > 0 && <BulkChip />}
            <button type="button" class="quiet live" data-testid="live-toggle" aria-pressed={!isPaused.value} title={isPaused.value ? "Go on" : "Pause"} onClick={() => pause(!isPaused.value)}>
                <span class={`dot s-${shown}`} /><span data-testid="live-state" data-state={shown}>{label}</span></button>
            <VirtualMark />
            <button type="button" class="quiet" data-testid="time-zone" title="How times are shown" onClick={nextTimeForm}><Icon name="clock" /><span class="wide-only">{TIME_NAMES[timeForm.value]}</span></button>
            <button type="button" class="quiet" data-testid="theme" aria-label={`Theme: ${theme.value}`} title={`Theme: ${theme.value}`} onClick={() => { theme.value = themes[(themes.indexOf(theme.value) + 1) % 3]!; }}><Icon name="theme" /></button>
            {me.value && <span class="who" data-testid="who" data-role={me.value.role}>{me.value.name ?? (me.value.auth === "none" ? "" : me.value.role)}</span>}
            {token.value && <button type="button" class="quiet" data-testid="sign-out" onClick={signOut}>Sign out</button>}
        </header>
    );
}

const until = (at: number): string => { const seconds = Math.max(0, Math.ceil((at - Date.now()) / 1000)); return seconds ? ` in ${seconds} s` : ""; };

function Banner() {
    const error = trouble.value, isLost = state.value === "lost" && isLiveWanted.value;
    void now.value;
    if (error && (["store_full", "read_only"].includes(error.code) || error.code.startsWith("schema_")))
        return <div class="banner bad-banner" role="alert" data-testid="banner" data-code={error.code}><Icon name="cross" /> <Text text={error.message} />{error.hint && <> <Text text={error.hint} /></>}</div>;
    if (error) return <div class="banner" role="status" data-testid="banner" data-code={error.code}>The store does not answer. Trying again{until(troubleUntil.value)}.</div>;
    if (isLost) return <div class="banner" role="status" data-testid="banner" data-code="lost">Not live. Trying again{until(retryAt.value)}. What you see is from {inZone(heardAt.value).split(" ").at(-1)}.</div>;
    return null;
}

/** The text behind an element, also on focus and on tap. */
function Tips() {
    const [tip, setTip] = useState<{ text: string; x: number; y: number } | null>(null), isShown = useRef(false);
    useEffect(() => {
        const show = (target: EventTarget | null) => {
            const element = target instanceof Element ? target.closest("[title], [data-tip]") : null, text = element?.getAttribute("title") ?? element?.getAttribute("data-tip");
            if (!element || !text) { setTip(null); return; }
            const rect = element.getBoundingClientRect();
            setTip({ text, x: Math.min(Math.max(8, rect.left), innerWidth - 240), y: rect.bottom + 6 > innerHeight - 60 ? rect.top - 40 : rect.bottom + 6 });
        };
        const onFocus = (event: FocusEvent) => { if (event.target instanceof Element && event.target.matches(":focus-visible")) show(event.target); };
        const onUp = (event: PointerEvent) => { if (event.pointerType === "touch") show(event.target); else setTip(null); };
        const onOver = (event: PointerEvent) => { if (event.pointerType === "mouse") { if (event.target instanceof Element && event.target.closest("[data-tip]")) show(event.target); else setTip(null); } };
        const hide = () => setTip(null);
        addEventListener("pointerover", onOver);
        addEventListener("focusin", onFocus);
        addEventListener("focusout", hide);
        addEventListener("pointerup", onUp);
        addEventListener("scroll", hide, { passive: true });
        // It is what Esc closes first; only the next one leaves the screen.
        const onEscape = (event: KeyboardEvent) => { if (event.key === "Escape" && isShown.current) { event.stopPropagation(); hide(); } };
        addEventListener("keydown", onEscape, true);
        return () => { removeEventListener("pointerover", onOver); removeEventListener("focusin", onFocus); removeEventListener("focusout", hide); removeEventListener("pointerup", onUp); removeEventListener("scroll", hide); removeEventListener("keydown", onEscape, true); };
    }, []);
    isShown.current = !!tip;
    return tip && <div class="tip" role="tooltip" data-testid="tip" style={{ left: `${tip.x}px`, top: `${tip.y}px` }}>{tip.text}</div>;
}

const SHORTCUTS: [string, string][] = [
    ["/ or Ctrl+K", "search"], ["g then o i j a d w f c k s", "go to a screen"], ["j k or arrows", "next, previous row"], ["Enter", "open"], ["x, Shift+x", "select the row, a range"], [".", "menu of actions"], ["r", "show news now"],
    ["p", "pause or resume live"], ["[ ]", "previous, next tab"], ["t", "switch times"], ["c", "copy the id"], ["Esc", "close; back to the list"],
];

function Shortcuts({ close }: { close: () => void }) {
    const button = useRef<HTMLButtonElement>(null);
    useLayoutEffect(() => { const before = document.activeElement; button.current?.focus(); return () => { if (before instanceof HTMLElement) before.focus(); }; }, []);
    return <div class="veil" onClick={close} onKeyDown={(event) => { if (event.key === "Escape") { event.stopPropagation(); close(); } }}><div class="sheet" role="dialog" aria-modal="true" aria-label="Shortcuts" data-testid="shortcuts"><h2>Shortcuts</h2><dl class="facts">{SHORTCUTS.flatMap(([key, does]) => [<dt key={key}><kbd>{key}</kbd></dt>, <dd key={does}>{does}</dd>])}</dl><button type="button" ref={button} onClick={close}>Close</button></div></div>;
}

const ROWS = ["instance", "job", "step", "event", "dead", "schedule", "workflow", "function", "worker", "recent", "mismatch"].map((it) => `[data-testid=${it}-row]`).join(",") + ",[data-testid=approval-card]";
const click = (selector: string) => document.querySelector<HTMLElement>(selector)?.click();

/** What is drawn next, or loaded first. */
function focusSoon(selector: string, frames = 300): void {
    requestAnimationFrame(() => { const found = document.querySelector<HTMLElement>(selector); if (found) found.focus(); else if (frames) focusSoon(selector, frames - 1); });
}

/** The actions of the row that has the focus, or else of the screen. */
function openActions(row: HTMLElement | null, select: () => void): void {
    const own = row?.querySelector<HTMLElement>(".c-buttons button");
    if (own) { own.focus(); return; }
    const box = row?.querySelector<HTMLInputElement>("[data-testid=select-row]");
    if (box) {
        if (!box.checked) select();
        focusSoon("[data-testid=bulk-bar] button");
        return;
    }
    const menu = document.querySelector<HTMLDetailsElement>("[data-testid=more-actions]");
    if (menu) { menu.open = true; menu.querySelector<HTMLElement>("button")?.focus(); }
    else document.querySelector<HTMLElement>(".actions button")?.focus();
}

function useKeys(showHelp: () => void): void {
    useEffect(() => {
        let isGoing = false;
        const onKey = (event: KeyboardEvent) => {
            const target = event.target as HTMLElement;
            if (event.key === "k" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); document.querySelector<HTMLElement>("[data-testid=search]")?.focus(); return; }
            if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input:not([type=checkbox]), textarea, select")) return;
            if (event.key === "Escape") {
                if (sheet.value) sheet.value = null;
                else if (openBulk.value) openBulk.value = null;
                else if (one(query.value, "step")) setQuery({ step: null, attempt: null });
                else if (path.value.includes("/")) goBack();
                return;
            }
            if (!hasShortcuts.value || sheet.value || openBulk.value) return;
            if (isGoing) {
                isGoing = false;
                const to = NAV.find((it) => it.key === event.key);
                if (to) { event.preventDefault(); go(to.to); }
                return;
            }
            const tabs = [...document.querySelectorAll<HTMLAnchorElement>("[role=tab]")], at = tabs.findIndex((it) => it.getAttribute("aria-selected") === "true");
            const row = document.activeElement?.closest<HTMLElement>("tr[data-id]");
            const select = (isRange: boolean) => row?.querySelector<HTMLElement>("[data-testid=select-row]")?.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, shiftKey: isRange }));
            const actions: Record<string, () => void> = {
                "/": () => document.querySelector<HTMLElement>("[data-testid=search]")?.focus(), g: () => { isGoing = true; }, j: () => moveFocus(1, ROWS), k: () => moveFocus(-1, ROWS), ArrowDown: () => moveFocus(1, ROWS), ArrowUp: () => moveFocus(-1, ROWS),
                x: () => select(false), X: () => select(true), r: () => click("[data-testid=news-pill]"), p: () => pause(!isPaused.value), t: nextTimeForm,
                "[": () => tabs[at - 1]?.click(), "]": () => tabs[at + 1]?.click(), ".": () => openActions(row ?? null, () => select(false)),
                c: () => { const id = row?.dataset["id"] ?? document.querySelector<HTMLElement>("section[data-id]")?.dataset["id"]; if (id) { copyText(id); toast("ok", "Copied the id"); } }, "?": showHelp,
            };
            const action = actions[event.key];
            if (action && !((event.key === "ArrowDown" || event.key === "ArrowUp") && !row)) { event.preventDefault(); action(); }
        };
        addEventListener("keydown", onKey);
        return () => removeEventListener("keydown", onKey);
    }, []);
}

function App() {
    const [hasHelp, setHelp] = useState(false);
    useKeys(() => setHelp(true));
    const isSignIn = path.value === "sign-in";
    useLayoutEffect(() => { if (!isSignIn) void askWho(); }, [isSignIn]);
    useEffect(() => onRetry(() => { if (!me.peek()) void askWho(); }), []);
    useEffect(() => { if (me.value) startLive(() => may("GET", "/v1/stream")); }, [!me.value]);
    useEffect(() => { sheet.value = null; }, [path.value]);            // it asked about what is no longer shown
    if (isSignIn) return <><SignIn /><Toasts /></>;
    return (
        <div class="frame">
            <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to the content</a>
            <Top /><Nav />
            <main id="main" tabIndex={-1}>
                {asking.value > 0 && <div class="progress" aria-hidden="true" />}
                <Banner />
                <Guard key={path.value}>{me.value ? <Screen /> : <Loading rows={8} />}</Guard>
            </main>
            <Sheets />{openBulk.value && <BulkSheet />}<Toasts /><Tips />
            {hasHelp && <Shortcuts close={() => setHelp(false)} />}
        </div>
    );
}

startClock();
document.addEventListener("visibilitychange", () => { if (!document.hidden && me.value) askClock(); });
render(<App />, document.getElementById("app")!);
