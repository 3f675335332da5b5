// bits.tsx - the small parts of every screen: pills, times, ids, buttons, errors, empty lists.
//
// SPDX-License-Identifier: Apache-2.0
import { computed, signal } from "@preact/signals";
import { Component, type ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, stopAsking } from "../base/api";
import { isVirtual, now } from "../base/clock";
import { timeForm, zone } from "../base/settings";
import { shortId, visible, words } from "../base/text";
import { duration, everyForm, formatTime, type TimeForm } from "../base/time";
import { me } from "../base/who";
import { Icon } from "./icons";

// ---- status --------------------------------------------------------------------------------------

type Of = "instance" | "step" | "job";
const GROUPS: Record<string, [group: string, icon: string]> = {
    pending: ["plan", "dotted"], ready: ["queue", "ring"], running: ["run", "disc"], leased: ["run", "disc"],
    waiting_signal: ["wait", "dots"], waiting: ["wait", "dots"], waiting_decision: ["person", "head"], paused: ["hold", "bars"],
    compensating: ["undo", "undo"], compensation: ["undo", "undo"], rolled_back: ["undo", "undo"], completed: ["done", "tick"],
    confirmed: ["done", "tick"], succeeded: ["done", "tick"], failed: ["fail", "cross"], rejected: ["fail", "cross"], dlq: ["fail", "tray"],
    cancelled: ["stop", "dash"], aborted: ["stop", "dash"], skipped: ["stop", "dash"],
};

export const groupOf = (status: string): string => GROUPS[status]?.[0] ?? "plan";
export const iconOf = (status: string): string => GROUPS[status]?.[1] ?? "ring";

/** A pending job whose time has come is in the queue. */
export function Status({ status, of = "instance", isDue = false, id = "status" }: { status: string; of?: Of; isDue?: boolean; id?: string }) {
    const isQueued = of === "job" && status === "pending" && isDue;
    return (
        <span class={`pill g-${isQueued ? "queue" : groupOf(status)}`} data-testid={id} data-status={status}>
            <Icon name={isQueued ? "ring" : iconOf(status)} size={12} />{words(status)}
        </span>
    );
}

// ---- times, ids, texts ---------------------------------------------------------------------------

/** The text follows the clock without drawing anything else anew. */
function useMoment(at: string, text: (ms: number, seen: number, form: TimeForm) => string) {
    const ms = Date.parse(at);
    const shown = useMemo(() => computed(() => text(ms, now.value, timeForm.value)), [at]);
    const all = everyForm(ms, now.peek());
    const renew = (event: { currentTarget: Element }) => event.currentTarget.setAttribute("title", everyForm(ms, now.peek()));
    return { shown, rest: { dateTime: at, "data-testid": "time", title: all, tabIndex: 0, onPointerEnter: renew, onFocus: renew } };
}

export function Time({ at, prefix = "" }: { at: string | null | undefined; prefix?: string }) {
    return at ? <Moment at={at} prefix={prefix} /> : <span class="muted">–</span>;
}

function Moment({ at, prefix }: { at: string; prefix: string }) {
    const { shown, rest } = useMoment(at, (ms, seen, form) => prefix + formatTime(ms, seen, form, zone.value));
    return <time {...rest}>{shown}</time>;
}

/** Behind "until": a moment, and how far away it is. */
export function Until({ at }: { at: string }) {
    const { shown, rest } = useMoment(at, (ms, seen, form) => `${formatTime(ms, seen, form === "relative" ? "local" : form, zone.value)} (${formatTime(ms, seen, "relative", zone.value)})`);
    return <time {...rest}>{shown}</time>;
}

export function Took({ from, to }: { from: string | null | undefined; to: string | null | undefined }) {
    if (!from) return <span class="muted">–</span>;
    const end = to ? Date.parse(to) : now.value;
    return <span class="num" title={to ? "" : "so far"}>{duration(Math.max(0, end - Date.parse(from)))}</span>;
}

export function copyText(text: string): void {
    const fallBack = () => {
        const area = document.createElement("textarea");
        area.value = text;
        area.className = "hidden-copy";
        document.body.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).catch(fallBack);
    else fallBack();
}

export function Copy({ text, id = "copy-id", label }: { text: string; id?: string; label: string }) {
    const [isDone, setDone] = useState(false);
    return (
        <button type="button" class="quiet small" data-testid={id} aria-label={label} title={label}
                onClick={(event) => { event.preventDefault(); event.stopPropagation(); copyText(text); setDone(true); setTimeout(() => setDone(false), 1200); }}>
            <Icon name={isDone ? "tick" : "copy"} size={14} />
        </button>
    );
}

export const Id = ({ id }: { id: string }) => <span class="mono muted" data-id={id} title={id}>…{shortId(id)}</span>;

/** A text of somebody else's: never HTML, never turned round. */
export const Text = ({ text, mono = false }: { text: string; mono?: boolean }) => <bdi class={mono ? "mono" : undefined}>{visible(text)}</bdi>;

export const Link = ({ to, children, id, ...rest }: { to: string; children: ComponentChildren; id?: string; class?: string; title?: string }) =>
    <a href={to || "."} data-testid={id} {...rest}>{children}</a>;

// ---- toasts --------------------------------------------------------------------------------------

interface ToastLine { id: number; kind: "ok" | "error"; text: string; to?: string }
const toasts = signal<ToastLine[]>([]);
let toastCount = 0;

export function toast(kind: "ok" | "error", text: string, to?: string): void {
    const line: ToastLine = { id: ++toastCount, kind, text, ...(to ? { to } : {}) };
    toasts.value = [...toasts.value.slice(-2), line];
    setTimeout(() => { toasts.value = toasts.value.filter((it) => it !== line); }, 6000);
}

export const Toasts = () => (
    <div class="toasts" role="status" aria-live="polite">
        {toasts.value.map((it) => (
            <div key={it.id} class={`toast ${it.kind}`} data-testid="toast" data-kind={it.kind}>
                <Icon name={it.kind === "ok" ? "tick" : "cross"} /><Text text={it.text} />{it.to && <Link to={it.to}>open</Link>}
            </div>
        ))}
    </div>
);

// ---- tabs ----------------------------------------------------------------------------------------

export interface Tab { name: string; href: string; label: ComponentChildren; id?: string }

/** Where they do not fit side by side, the chosen one is scrolled to. */
export function Tabs({ items, chosen }: { items: Tab[]; chosen: string }) {
    const place = useRef<HTMLDivElement>(null), seen = useRef("");
    useLayoutEffect(() => {
        const bar = place.current, tab = bar?.querySelector<HTMLElement>("[aria-selected=true]");
        // Labels get longer when there is something to count; while nothing moves, the bar stays where a person has put it.
        if (!bar || !tab || seen.current === `${chosen} ${bar.scrollWidth}`) return;
        seen.current = `${chosen} ${bar.scrollWidth}`;
        const left = tab.offsetLeft - bar.offsetLeft;
        if (left < bar.scrollLeft || left + tab.offsetWidth > bar.scrollLeft + bar.clientWidth) bar.scrollLeft = left - (bar.clientWidth - tab.offsetWidth) / 2;
    });
    return <div class="tabs" role="tablist" ref={place}>{items.map((it) => <a key={it.name} role="tab" aria-selected={it.name === chosen} data-testid={it.id ?? `tab-${it.name}`} href={it.href}>{it.label}</a>)}</div>;
}

// ---- loading, errors, nothing --------------------------------------------------------------------

/** Nothing for 150 ms, then a skeleton, after 5 s a sentence. */
export function Loading({ rows = 4 }: { rows?: number }) {
    const [stage, setStage] = useState(0);
    useEffect(() => {
        const timers = [setTimeout(() => setStage(1), 150), setTimeout(() => setStage(2), 5000)];
        return () => timers.forEach(clearTimeout);
    }, []);
    if (!stage) return null;
    return (
        <div class="loading" data-testid="loading" aria-busy="true">
            {Array.from({ length: rows }, (_, index) => <div key={index} class="bone" />)}
            {stage > 1 && <p class="muted">Still asking … <button type="button" data-testid="cancel-request" onClick={stopAsking}>Stop asking</button></p>}
        </div>
    );
}

export function Failure({ error, again }: { error: ApiError; again?: () => void }) {
    const message = error.code === "forbidden" ? `Your role ${me.value?.role ?? ""} does not allow this.` : error.message;
    const story = `${error.what}\n${error.code}: ${error.message}\n${error.detail}\n${new Date().toISOString()}`;
    return (
        <div class="failure" role="alert" data-testid="error" data-code={error.code}>
            <Icon name="cross" /><div>
                <p><Text text={message} /></p>
                {error.detail && <p class="muted"><Text text={error.detail} /></p>}
                {error.hint && <p class="muted"><Text text={error.hint} /></p>}
            </div>
            {again && <button type="button" data-testid="retry" onClick={again}>Try again</button>}
            {(error.code === "internal" || error.code === "store") && <Copy text={story} id="copy-error" label="Copy details" />}
        </div>
    );
}

export const Empty = ({ reason, children }: { reason: string; children: ComponentChildren }) =>
    <div class="empty" data-testid="empty" data-reason={reason}>{children}</div>;

/** A failed part says so, and the rest of the page goes on. */
export class Guard extends Component<{ children: ComponentChildren }, { reason: string | null }> {
    state = { reason: null as string | null };
    static getDerivedStateFromError(reason: unknown) {
        return { reason: reason instanceof Error ? `${reason.message}\n${reason.stack ?? ""}` : String(reason) };
    }
    render() {
        if (this.state.reason === null) return this.props.children;
        return (
            <div class="failure" role="alert" data-testid="crash">
                <Icon name="cross" /><p>This part of the page failed.</p>
                <Copy text={this.state.reason} id="copy-error" label="Copy details" />
                <button type="button" onClick={() => location.reload()}>Reload</button>
            </div>
        );
    }
}

export const Command = ({ text }: { text: string }) => (
    <span class="command"><code><Text text={text} /></code><Copy text={text} id="copy-cli" label="Copy the command" /></span>
);

export const VirtualMark = () => isVirtual.value ? <span class="muted">virtual clock</span> : null;
