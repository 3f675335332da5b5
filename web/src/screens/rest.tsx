// rest.tsx - workers and types, sign-in.
//
// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { apiUrl, ask, signIn } from "../base/api";
import { useAsk, useEvery, useNews } from "../base/ask";
import { base, query } from "../base/place";
import { one } from "../base/query";
import { grouped } from "../base/text";
import type { Page, Schemas, TypeRow, WorkerRow } from "../base/types";
import { may } from "../base/who";
import { typeAction } from "../parts/actions";
import { Command, Copy, Empty, Failure, Loading, Text, Time } from "../parts/bits";
import { More } from "../parts/more";
import { Icon } from "../parts/icons";
import { LimitsPart } from "../parts/limits";

// ---- workers ---------------------------------------------------------------------------------------

type Held = Schemas["HeldTask"] & { key?: string | null };

/** With the keys by which people know jobs and instances. */
async function withKeys(target: string, signal: AbortSignal): Promise<Page<Held>> {
    const page = await ask<Page<Held>>(target, signal), keys = new Map<string, string | null>();
    for (const [kind, ids] of [["instances", page.items.flatMap((it) => it.instance_id ?? [])], ["jobs", page.items.flatMap((it) => it.instance_id ? [] : it.id)]] as const)
        if (ids.length) for (const it of (await ask<Page<{ id: string; key?: string | null; idempotency_key?: string | null }>>(`/v1/${kind}?view=row&limit=100&ids=${ids.slice(0, 100).join(",")}`, signal).catch(() => ({ items: [] }))).items) keys.set(it.id, it.key ?? it.idempotency_key ?? null);
    return { ...page, items: page.items.map((it) => ({ ...it, key: keys.get(it.instance_id ?? it.id) ?? null })) };
}

function Tasks({ name }: { name: string }) {
    const page = useAsk<Page<Held>>(`/v1/workers/${encodeURIComponent(name)}/tasks`, withKeys);
    useNews(() => true, page.again, 2000);
    if (page.error && !page.data) return <Failure error={page.error} again={page.again} />;
    if (!page.data) return <Loading rows={1} />;
    if (!page.data.items.length) return <p class="muted">It holds nothing.</p>;
    return <ul class="plain">{page.data.items.map((it) => <li key={it.id} data-testid="worker-task" data-id={it.id} class="row"><b><Text text={it.step ?? it.type ?? it.kind} /></b> <a href={it.instance_id ? `instances/${it.instance_id}` : `jobs/${it.id}`}><Text text={it.key ?? `…${(it.instance_id ?? it.id).slice(-8)}`} /></a><span class="muted">call {it.call}{it.since && <> began <Time at={it.since} /></>}{it.lease_until && <>, its lease ends <Time at={it.lease_until} /></>}</span></li>)}</ul>;
}

export function Workers() {
    const workers = useAsk<Page<WorkerRow>>("/v1/workers");
    const [most, setMost] = useState(200);
    const types = useAsk<Page<TypeRow>>(`/v1/types?limit=${most}`);
    const [open, setOpen] = useState<Record<string, boolean>>({});
    const [hasGone, setGone] = useState(false);
    const again = () => { workers.again(); types.again(); };
    useNews(() => true, again, 5000);
    useEvery(60_000, again);                            // a worker that falls silent sends no news
    if (workers.error && !workers.data) return <Failure error={workers.error} again={workers.again} />;
    if (!workers.data) return <Loading />;
    const shown = workers.data.items.filter((it) => hasGone || it.state !== "gone"), gone = workers.data.items.length - workers.data.items.filter((it) => it.state !== "gone").length;
    const live = workers.data.items.filter((it) => it.state === "live").length, quiet = workers.data.items.filter((it) => it.state === "quiet").length;
    const isOpen = (it: WorkerRow) => open[it.name] ?? (it.holds > 0 && it.holds <= 4 && shown.length <= 8);
    const waiting = (types.data?.items ?? []).filter((it) => it.is_served === false && it.ready > 0);
    const line = (type: string) => `cairn work --handle '${type}=COMMAND'`;
    return (
        <section data-testid="workers">
            <div>
                <div class="row head"><h1>Workers <span class="muted">{live} live{quiet > 0 && ` · ${quiet} quiet`}</span></h1>{gone > 0 && <button type="button" onClick={() => setGone(!hasGone)}>{hasGone ? "Hide those that are gone" : `Show ${gone} that are gone`}</button>}</div>
                {!shown.length ? <Empty reason="none"><p>No worker has been seen.</p>{waiting.slice(0, 3).map((it) => <p key={it.type}><Command text={line(it.type)} /></p>)}</Empty>
                    : <div class="table-wrap"><table class="rows"><thead><tr><th>name</th><th>state</th><th class="wide">serves</th><th class="right">holds</th><th class="right">last seen</th><th class="wide-screen">via</th><th>runtime</th><th class="right">errors 1 h</th></tr></thead><tbody>{shown.flatMap((it) => [
                        <tr key={it.name} tabIndex={-1} data-testid="worker-row" data-name={it.name} data-state={it.state}>
                            <td class="c-key"><button type="button" class="fold" aria-expanded={isOpen(it)} aria-label={`Tasks of ${it.name}`} onClick={() => setOpen({ ...open, [it.name]: !isOpen(it) })}><Icon name={isOpen(it) ? "down" : "right"} /></button><Text text={it.name} /></td>
                            <td><span class={`pill g-${it.state === "live" ? "done" : it.state === "quiet" ? "queue" : "stop"}`}><Icon name={it.state === "live" ? "disc" : "ring"} size={12} />{it.state}</span></td>
                            <td class="clip mono"><Text text={it.types.join(", ")} /></td><td class="right num" data-label="holds">{it.holds}/{it.places}</td><td class="right" data-label="seen"><Time at={it.last_seen} /></td><td class="muted wide-screen clip-short"><Text text={it.via} /></td><td data-label="runtime">{it.runtime ? <Text text={it.runtime} /> : "–"}</td><td class="right num" data-label="errors 1 h">{it.errors_1h ?? "–"}</td>
                        </tr>,
                        ...(isOpen(it) ? [<tr key={`${it.name}+`} class="below-row"><td colSpan={8}><Tasks name={it.name} /></td></tr>] : []),
                    ])}</tbody></table></div>}
            </div>
            <h2>Types</h2>
            {types.error && !types.data ? <Failure error={types.error} again={types.again} /> : !types.data ? <Loading /> : (
                <div class="table-wrap" data-testid="types"><table class="rows"><thead><tr><th class="wide">type</th><th class="right">ready</th><th class="right">oldest</th><th class="right">running</th><th class="right">later</th><th>workers</th><th>registry</th><th /></tr></thead><tbody>{types.data.items.map((it) => (
                    <tr key={it.type} data-testid="type-row" data-type={it.type} data-served={it.is_served === null ? "unknown" : String(it.is_served)}>
                        <td class="c-key mono"><Text text={it.type} /></td><td class="right num" data-label="ready">{grouped(it.ready)}</td><td class="right" data-label="oldest"><Time at={it.oldest_ready_at} /></td><td class="right num" data-label="running">{grouped(it.leased)}</td><td class="right num" data-label="later">{grouped(it.later)}</td>
                        <td data-label="workers">{it.is_served === null ? <span class="muted">not known yet</span> : it.is_served ? it.workers_live : <span class="bad"><Icon name="cross" size={12} /> none</span>}</td>
                        <td data-label="registry">{it.runtime ? `${it.runtime} ${it.is_enabled === false ? "off" : "on"}` : "–"}</td>
                        <td class="right nowrap c-buttons">{it.is_served === false && it.is_enabled !== false && <Copy text={line(it.type)} id="copy-cli" label={`Copy: ${line(it.type)}`} />}
                            {it.runtime && may("PUT", "/v1/registry/{name}") && (it.is_enabled === false ? <button type="button" data-testid="action-type-enable" onClick={() => void typeAction(it.type, true, types.again)}>Switch on</button> : <button type="button" data-testid="action-type-disable" onClick={() => void typeAction(it.type, false, types.again)}>Switch off</button>)}</td>
                    </tr>))}</tbody></table></div>)}
            <More page={types.data} limit={most} set={setMost} />
            {may("GET", "/v1/limits") && <LimitsPart types={types.data?.items ?? []} />}
        </section>
    );
}

// ---- sign-in ---------------------------------------------------------------------------------------

export function SignIn() {
    const [text, setText] = useState("");
    const [isKept, setKept] = useState(false);
    const [isShown, setShown] = useState(false);
    const [error, setError] = useState("");
    const submit = async () => {
        setError("");
        const response = await fetch(apiUrl("/v1/me"), { headers: { Authorization: `Bearer ${text.trim()}` }, cache: "no-store" }).catch(() => null);
        if (!response) { setError("The server does not answer."); return; }
        if (response.status === 401) { setError("This token is not known."); return; }
        signIn(text.trim(), isKept);
        const next = one(query.value, "next");
        location.replace(next.startsWith(base.pathname) ? new URL(next, location.origin) : base);
    };
    return (
        <main class="sign-in" data-testid="sign-in">
            <form class="card" onSubmit={(event) => { event.preventDefault(); void submit(); }}>
                <h1>Cairn</h1>
                <input type="text" autocomplete="username" hidden />
                <label class="field"><span class="label">Token</span><span class="row"><input class="grow" type={isShown ? "text" : "password"} data-testid="token" autocomplete="current-password" autoFocus value={text} onInput={(event) => setText(event.currentTarget.value)} />
                    <button type="button" data-testid="token-show" aria-pressed={isShown} onClick={() => setShown(!isShown)}>{isShown ? "Hide" : "Show"}</button></span></label>
                <label class="check"><input type="checkbox" data-testid="keep" checked={isKept} onChange={(event) => setKept(event.currentTarget.checked)} /> Keep me signed in on this device</label>
                {error && <p class="bad" role="alert" data-testid="sign-in-error">{error}</p>}
                <div class="row end"><button type="submit" class="primary" data-testid="sign-in-confirm" disabled={!text.trim()}>Sign in</button></div>
            </form>
        </main>
    );
}
