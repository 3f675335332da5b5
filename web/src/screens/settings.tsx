// settings.tsx - how shall it look to me, what does the server keep, and what is this?
//
// SPDX-License-Identifier: Apache-2.0
import { useAsk } from "../base/ask";
import { skew } from "../base/clock";
import { byName, density, forgetAll, hasShortcuts, isLiveWanted, theme, timeForm, views, zone, type SavedView } from "../base/settings";
import { plural, words } from "../base/text";
import { duration } from "../base/time";
import type { Finding } from "../base/types";
import { about, may, me } from "../base/who";
import { Text, Time, toast } from "../parts/bits";
import { Icon } from "../parts/icons";
import { download } from "../parts/json";
import { DeliveryPart, RetentionPart } from "../parts/keeping";
import { sheet } from "../parts/sheet";

const Choice = <T extends string>({ name, label, value, options, onChange }: { name: string; label: string; value: T; options: T[]; onChange: (value: T) => void }) => (
    <label class="field"><span class="label">{label}</span><select data-testid={name} value={value} onChange={(event) => onChange(event.currentTarget.value as T)}>{options.map((it) => <option key={it} value={it}>{it === "utc" ? "UTC" : it}</option>)}</select></label>
);

function forget(): void {
    sheet.value = { action: "forget", title: "Forget this browser", sentence: "What this browser keeps is removed: settings, saved views, drafts of inputs, your name, the token. Nothing changes on the server.", confirm: "Forget", isDanger: true,
                    send: async () => { forgetAll(); location.reload(); return null; } };
}

function Looks() {
    return (
        <section><h2>This browser</h2>
            <Choice name="set-time" label="Times" value={timeForm.value} options={["relative", "local", "utc", "zone"]} onChange={(value) => { timeForm.value = value; }} />
            {timeForm.value === "zone" && <label class="field"><span class="label">Zone</span><input data-testid="set-zone" list="zones" value={zone.value} onChange={(event) => { try { new Intl.DateTimeFormat("en", { timeZone: event.currentTarget.value }); zone.value = event.currentTarget.value; } catch { toast("error", "There is no such zone."); } }} /><datalist id="zones">{(Intl.supportedValuesOf?.("timeZone") ?? []).map((name) => <option key={name} value={name} />)}</datalist></label>}
            <Choice name="set-theme" label="Theme" value={theme.value} options={["system", "light", "dark"]} onChange={(value) => { theme.value = value; }} />
            <Choice name="set-density" label="Density" value={density.value} options={["normal", "tight"]} onChange={(value) => { density.value = value; }} />
            {!me.value?.name && <label class="field"><span class="label">Your name</span><input data-testid="set-by" value={byName.value} onInput={(event) => { byName.value = event.currentTarget.value; }} /></label>}
            <label class="check"><input type="checkbox" data-testid="set-shortcuts" checked={hasShortcuts.value} onChange={(event) => { hasShortcuts.value = event.currentTarget.checked; }} /> Shortcuts with single keys</label>
            <label class="check"><input type="checkbox" data-testid="set-live" checked={isLiveWanted.value} onChange={(event) => { isLiveWanted.value = event.currentTarget.checked; }} /> Live</label>
            <div class="row"><button type="button" data-testid="forget" onClick={forget}>Forget this browser</button></div>
        </section>
    );
}

function Views() {
    const importViews = (file: File | undefined) => void file?.text().then((text) => {
        const list = JSON.parse(text) as SavedView[];
        if (!Array.isArray(list)) throw new Error("no list");
        views.value = list.filter((view) => typeof view.name === "string" && typeof view.screen === "string" && typeof view.query === "string").map(({ name, screen, query }) => ({ name, screen, query }));
        toast("ok", `${views.value.length} views`);
    }).catch(() => toast("error", "This is no file of views."));
    const rename = (view: SavedView) => {
        sheet.value = { action: "rename-view", title: `Rename ${view.name}`, sentence: "Only the name changes.", confirm: "Rename", fields: [{ name: "name", label: "Name", kind: "text", isRequired: true, value: view.name, testId: "view-name" }],
                        send: async (values) => { views.value = views.value.map((other) => other === view ? { ...view, name: values["name"]!.trim() } : other); return null; } };
    };
    const move = (index: number, by: number) => { const list = [...views.value], [view] = list.splice(index, 1); list.splice(index + by, 0, view!); views.value = list; };
    return (
        <section><h2>Saved views</h2>
            {!views.value.length ? <p class="muted">None. A list with filters can be saved as a view.</p> : <ul class="plain">{views.value.map((view, index) => <li key={view.screen + view.name} class="row" data-testid="saved-view" data-name={view.name}>
                <a href={view.screen + view.query}>{view.name}</a><span class="muted">{view.screen}</span>
                <button type="button" class="quiet" data-testid="view-rename" aria-label={`Rename ${view.name}`} onClick={() => rename(view)}>Rename</button>
                <button type="button" class="quiet" aria-label={`Move ${view.name} up`} disabled={!index} onClick={() => move(index, -1)}>↑</button>
                <button type="button" class="quiet" aria-label={`Move ${view.name} down`} disabled={index === views.value.length - 1} onClick={() => move(index, 1)}>↓</button>
                <button type="button" class="quiet" aria-label={`Remove ${view.name}`} onClick={() => { views.value = views.value.filter((other) => other !== view); }}><Icon name="close" /></button></li>)}</ul>}
            <div class="row"><button type="button" data-testid="views-export" onClick={() => download("cairn-views.json", JSON.stringify(views.value, null, 2))}>Export</button>
                <label class="button">Import<input type="file" class="file" accept="application/json" data-testid="views-import" onChange={(event) => importViews(event.currentTarget.files?.[0])} /></label></div>
        </section>
    );
}

const PACKAGES = ["preact (MIT)", "@preact/signals (MIT)", "diff (BSD-3-Clause)"];

function FindingLine({ it }: { it: Finding }) {
    const icon = it.result === "ok" ? "tick" : it.result === "error" ? "cross" : "flag";
    return <p class="finding" data-testid="finding" data-result={it.result}><span class={it.result === "ok" ? "good" : it.result === "error" ? "bad" : "warn"}><Icon name={icon} label={words(it.result)} /></span><b>{words(it.check)}</b><Text text={it.text} /></p>;
}

/** What needs somebody first; what is well is counted, and there for those who look. */
function Findings({ items }: { items: Finding[] }) {
    const open = items.filter((it) => it.result !== "ok"), good = items.filter((it) => it.result === "ok");
    return <>
        {open.map((it) => <FindingLine key={it.check} it={it} />)}
        {good.length > 0 && <details data-testid="findings-ok"><summary><span class="good"><Icon name="tick" /></span> {plural(good.length, "check")} passed</summary>{good.map((it) => <FindingLine key={it.check} it={it} />)}</details>}
    </>;
}

function About() {
    const doctor = useAsk<{ items: Finding[] }>(may("GET", "/v1/doctor") ? "/v1/doctor" : null), it = about.value;
    return (
        <section data-testid="about"><h2>About</h2>
            {it ? <p><b data-testid="about-version">Cairn {it.version}</b> · {it.store.product}, schema {it.store.schema} · {it.clock === "virtual" ? "virtual clock" : <>clock {Math.abs(skew.value) > 2000 ? <b>{skew.value > 0 ? "+" : "−"}{duration(Math.abs(skew.value))}</b> : `±${Math.round(Math.abs(skew.value))}ms`}</>} · started <Time at={it.started_at} />{it.page && <> · page <span class="mono">{it.page}</span></>}</p>
                : <p class="muted">Cairn</p>}
            {doctor.data && <Findings items={doctor.data.items} />}
            <p class="muted" data-testid="licences">This page contains {PACKAGES.join(", ")}.</p>
        </section>
    );
}

export function Settings() {
    return (
        <section data-testid="settings">
            <h1>Settings</h1>
            <div class="two"><Looks /><div><Views />{may("GET", "/v1/retention") && <RetentionPart />}</div></div>
            {may("GET", "/v1/outbox") && <DeliveryPart />}
            <About />
        </section>
    );
}
