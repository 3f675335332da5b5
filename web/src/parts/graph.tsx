// graph.tsx - the plan of an instance as a picture.
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { BOX, eachElement, layout, type Box, type Element as PlanElement, type Line } from "../base/layout";
import { AT_ONCE, isEntered, isUndone, waysTaken } from "../base/ways";
import { here, setQuery } from "../base/place";
import { now } from "../base/clock";
import { duration } from "../base/time";
import { grouped, visible, words } from "../base/text";
import type { StepRow } from "../base/types";
import { groupOf, iconOf } from "./bits";
import { Icon } from "./icons";

const KIND_ICON: Record<string, string> = { task: "box", condition: "diamond", fork: "fork", join: "fork", wait: "envelope", sleep: "hourglass", human: "head", save_point: "flag", start: "child", map: "stack", folded: "more" };
const PAD = 16, LEAST = 0.25, MOST = 2, STEP = 1.25;
/** Above this many boxes only those in view are drawn. */
const ALL_MAX = 300, AROUND = 400;
/** A whole graph is shown at first if it is still readable then. */
const READABLE = 0.65;
const CURRENT = new Set(["ready", "running", "waiting", "waiting_decision", "paused", "compensation"]);

const cut = (text: string, length: number): string => text.length > length ? `${text.slice(0, length - 1)}…` : text;

function took(step: StepRow | undefined): string {
    if (!step?.started_at || AT_ONCE.has(step.kind)) return "";
    const end = step.finished_at ? Date.parse(step.finished_at) : step.locked_by ? now.value : 0;
    const text = end ? duration(Math.max(0, end - Date.parse(step.started_at))) : "";
    return step.attempts ? `${text}${text && ", "}${step.attempts}/${step.max_attempts} failed` : text;
}

const SIGNS: [group: string, sign: string][] = [["done", "✓"], ["undo", "↩"], ["run", "●"], ["queue", "○"], ["wait", "…"], ["person", "☺"], ["hold", "‖"], ["fail", "✗"]];
const RANK = ["stop", "plan", "done", "undo", "queue", "wait", "run", "hold", "person", "fail"];

/** "80 ✓ 3 ● 1 ✗": each part by the worst of its steps. */
function summary(parts: string[][], byName: Map<string, StepRow>): string {
    const counts = new Map<string, number>();
    for (const names of parts) {
        const worst = names.map((name) => groupOf(byName.get(name)?.status ?? "pending")).reduce((a, b) => RANK.indexOf(a) >= RANK.indexOf(b) ? a : b, "stop");
        counts.set(worst, (counts.get(worst) ?? 0) + 1);
    }
    if (counts.size === 1) { const sign = SIGNS.find(([group]) => counts.has(group)); return sign?.[1] ?? ""; }
    return SIGNS.filter(([group]) => counts.has(group)).map(([group, sign]) => `${counts.get(group)} ${sign}`).join(" ");
}

function Node({ box, step, undone, focus, byName, note }: { box: Box; step: StepRow | undefined; undone: number; focus: boolean; byName: Map<string, StepRow>; note: string | undefined }) {
    const status = step?.status ?? "";
    const isTaken = isEntered(step);
    // Where nothing was undone, what happened before stays in sight: a step that failed looks failed.
    const isLeft = status === "rolled_back" && !undone, look = isLeft && step?.error ? "failed" : status;
    const isFold = box.kind === "folded" || !!box.folded;
    const many = box.parts ? summary(box.parts, byName) : "";
    const name = box.kind === "folded" ? `${grouped(box.folded!)} steps${many && ` ${many}`}` : visible(box.name);
    const second = box.kind === "folded" ? "unfold" : isFold ? `${box.folded} branches${many && `: ${many}`}` : undone ? `undone, ${undone}.` : note ? note : status === "skipped" && !isTaken ? "not taken" : isLeft && !step?.error && step?.kind === "task" ? "nothing to undo" : took(step) || (status && status !== "completed" && !(isTaken && AT_ONCE.has(box.kind)) ? words(status) : "");
    if (box.kind === "join")
        return <g data-testid="node" data-step={box.name} data-kind="join" class="node join"><rect x={box.x} y={box.y + 8} width={box.width} height={box.height - 16} rx={3} /></g>;
    return (
        <g data-testid={isFold ? "fold" : "node"} data-step={box.name} data-seq={step?.seq} data-status={status} data-kind={box.kind} data-taken={isTaken} role="button" tabindex={focus ? 0 : -1}
           aria-label={`${cut(name, 16)} ${cut(second, 20)}, ${words(box.kind)}${status && `, ${words(status)}`}`}
           class={`node g-${status ? groupOf(look) : "plan"}${CURRENT.has(status) ? " current" : ""}${isTaken ? "" : " dim"}`}
           data-tip={`${name}${box.handler ? `\n${box.handler}` : ""}${step?.error ? `\n${visible(step.error)}` : ""}`} transform={`translate(${box.x} ${box.y})`}>
            <rect class="shape" width={box.width} height={box.height} rx={box.kind === "condition" ? 26 : box.kind === "fork" ? 2 : 6} />
            <g transform={`translate(10 ${second ? 9 : 19})`} aria-hidden="true"><Icon name={box.kind === "task" || !step ? (step ? iconOf(look) : KIND_ICON[box.kind] ?? "box") : KIND_ICON[box.kind] ?? "box"} size={14} /></g>
            <text class="name" x={30} y={second ? 21 : 31}>{cut(name, box.kind === "condition" ? 14 : 16)}</text>{" "}
            <text class="second" x={30} y={39}>{cut(second, 20)}</text>
        </g>
    );
}

interface Rect { left: number; top: number; right: number; bottom: number }
const EVERYWHERE: Rect = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
const meets = (it: Rect, view: Rect): boolean => it.left <= view.right && it.right >= view.left && it.top <= view.bottom && it.bottom >= view.top;
const ofBox = (it: Box): Rect => ({ left: it.x, top: it.y, right: it.x + it.width, bottom: it.y + it.height });
function ofLine(line: Line): Rect {
    const xs = line.points.map((it) => it[0]), ys = line.points.map((it) => it[1]);
    return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
}

/** Drag moves, two fingers or Ctrl and the wheel zoom. */
function usePointers(place: { current: HTMLDivElement | null }, zoomBy: (factor: number) => void) {
    const latest = useRef(zoomBy);
    latest.current = zoomBy;
    useEffect(() => {
        const element = place.current;
        if (!element) return undefined;
        const points = new Map<number, { x: number; y: number }>();
        let distance = 0, moved = 0;
        const span = () => { const [a, b] = [...points.values()]; return a && b ? Math.hypot(a.x - b.x, a.y - b.y) : 0; };
        const onDown = (event: PointerEvent) => { points.set(event.pointerId, { x: event.clientX, y: event.clientY }); distance = span(); moved = 0; };
        const onMove = (event: PointerEvent) => {
            const last = points.get(event.pointerId);
            if (!last) return;
            points.set(event.pointerId, { x: event.clientX, y: event.clientY });
            if (points.size === 2) { const next = span(); if (distance && Math.abs(next - distance) > 8) { latest.current(next / distance); distance = next; } return; }
            if (event.pointerType !== "mouse") return;      // a finger scrolls by itself
            element.scrollLeft -= event.clientX - last.x;
            element.scrollTop -= event.clientY - last.y;
            moved += Math.abs(event.clientX - last.x) + Math.abs(event.clientY - last.y);
        };
        const onUp = (event: PointerEvent) => points.delete(event.pointerId);
        const onClick = (event: MouseEvent) => { if (moved > 6) { event.stopPropagation(); event.preventDefault(); } moved = 0; };
        const onWheel = (event: WheelEvent) => { if (event.ctrlKey) { event.preventDefault(); latest.current(event.deltaY < 0 ? 1.1 : 1 / 1.1); } };
        element.addEventListener("pointerdown", onDown);
        element.addEventListener("click", onClick, true);
        element.addEventListener("wheel", onWheel, { passive: false });
        addEventListener("pointermove", onMove);
        for (const name of ["pointerup", "pointercancel"] as const) addEventListener(name, onUp);
        return () => {
            element.removeEventListener("pointerdown", onDown);
            element.removeEventListener("click", onClick, true);
            element.removeEventListener("wheel", onWheel);
            removeEventListener("pointermove", onMove);
            for (const name of ["pointerup", "pointercancel"] as const) removeEventListener(name, onUp);
        };
    }, []);
}

export type Changes = ReadonlyMap<string, string>;

/** `changes`: of a comparison, what happened to each element. */
/** `notes`: of some steps, what to say of them instead of how long they took. */
export function Graph({ plan, steps, changes, failed, notes }: { plan: PlanElement[]; steps: StepRow[]; changes?: Changes; failed?: string | undefined; notes?: ReadonlyMap<number, string> }) {
    const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
    const [zoom, setZoom] = useState(1);
    const [view, setView] = useState<Rect>(EVERYWHERE);
    const place = useRef<HTMLDivElement>(null);
    const drawing = useMemo(() => layout(plan, open), [plan, open]);
    const byName = useMemo(() => new Map(steps.map((it) => [it.name, it])), [steps]);
    const undoOrder = useMemo(() => {
        const elements = new Map<string, PlanElement>();
        eachElement(plan, (it) => elements.set(it.name, it));
        return new Map(steps.filter((it) => isUndone(elements.get(it.name), it)).sort((a, b) => b.commit_no - a.commit_no).map((it, index) => [it.name, index + 1]));
    }, [plan, steps]);
    const currentName = steps.find((it) => CURRENT.has(it.status))?.name ?? steps.find((it) => it.status === "failed")?.name ?? failed ?? drawing.boxes[0]?.name;
    const isLarge = drawing.boxes.length > ALL_MAX;
    const whole = (): number => ((place.current?.clientWidth ?? 0) - 24) / (drawing.width + 2 * PAD);
    const look = () => {
        const element = place.current;
        if (!element || !isLarge) { setView(EVERYWHERE); return; }
        const next = { left: element.scrollLeft / zoom - PAD - AROUND, top: element.scrollTop / zoom - PAD - AROUND, right: (element.scrollLeft + element.clientWidth) / zoom + AROUND, bottom: (element.scrollTop + element.clientHeight) / zoom + AROUND };
        setView((old) => Math.abs(old.left - next.left) < AROUND / 2 && Math.abs(old.top - next.top) < AROUND / 2 && Math.abs(old.right - next.right) < AROUND / 2 && Math.abs(old.bottom - next.bottom) < AROUND / 2 ? old : next);
    };
    useLayoutEffect(() => {
        const box = drawing.boxes.find((it) => it.name === currentName), element = place.current;
        if (!box || !element) return;
        const fitting = whole();
        if (fitting < 1 && fitting >= READABLE) { setZoom(fitting); return; }
        element.scrollLeft = box.x - element.clientWidth / 2 + BOX.width / 2;
        element.scrollTop = box.y - element.clientHeight / 2 + BOX.height / 2;
    }, [plan]);
    useLayoutEffect(look, [drawing, zoom]);
    const zoomTo = (next: number) => setZoom(Math.min(MOST, Math.max(LEAST, next)));
    usePointers(place, (factor) => zoomTo(zoom * factor));
    const onOpen = (name: string) => {
        const step = byName.get(name);
        const box = drawing.boxes.find((it) => it.name === name);
        if (box?.folded) setOpen(new Set([...open, name]));
        else if (step) setQuery({ step: String(step.seq) });
    };
    const nodes = drawing.boxes.filter((it) => it.kind !== "join");
    const onKey = (event: KeyboardEvent) => {
        const target = event.target as SVGGElement, at = nodes.findIndex((it) => it.name === target.dataset["step"]);
        if (at < 0) return;
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); onOpen(nodes[at]!.name); return; }
        const move = event.key === "ArrowRight" || event.key === "ArrowDown" ? 1 : event.key === "ArrowLeft" || event.key === "ArrowUp" ? -1 : 0;
        if (!move) return;
        event.preventDefault();
        event.stopPropagation();
        const all = [...(place.current?.querySelectorAll<SVGGElement>("g[tabindex]") ?? [])];
        all[all.indexOf(target) + move]?.focus();
    };
    const isTakenLine = useMemo(() => waysTaken(plan, drawing, byName), [plan, drawing, byName]);
    const boxes = isLarge ? drawing.boxes.filter((it) => meets(ofBox(it), view)) : drawing.boxes;
    const lines = isLarge ? drawing.lines.filter((it) => meets(ofLine(it), view)) : drawing.lines;
    const focused = boxes.some((it) => it.name === currentName) ? currentName : boxes.find((it) => it.kind !== "join")?.name;
    return (
        <div class={steps.length ? "graph" : "graph as-plan"} data-testid="graph" data-nodes={drawing.boxes.length}>
            <div class="row tools">
                <button type="button" data-testid="graph-fit" onClick={() => zoomTo(Math.min(1, whole()))}>fit</button>
                <button type="button" data-testid="graph-out" aria-label="Smaller" onClick={() => zoomTo(zoom / STEP)}>−</button>
                <button type="button" data-testid="graph-in" aria-label="Larger" onClick={() => zoomTo(zoom * STEP)}>+</button>
            </div>
            <div class="scroll canvas" ref={place} tabIndex={0} role="group" aria-label="Graph" onScroll={isLarge ? look : undefined}>
                <svg width={(drawing.width + 2 * PAD) * zoom} height={(drawing.height + 2 * PAD) * zoom} viewBox={`${-PAD} ${-PAD} ${drawing.width + 2 * PAD} ${drawing.height + 2 * PAD}`}
                     onKeyDown={onKey} onClick={(event) => { const node = (event.target as Element).closest<SVGGElement>("g[data-step]"); if (node?.dataset["step"]) onOpen(node.dataset["step"]); }}>
                    {lines.map((line) => {
                        const isTaken = isTakenLine(line);
                        return <g key={`${line.from} ${line.to} ${line.list ?? ""}`} data-testid="edge" data-from={line.from} data-to={line.to} data-taken={isTaken} class={isTaken ? "edge" : "edge dim"}>
                            <polyline points={line.points.map((it) => it.join(",")).join(" ")} />
                            {line.label && Number.isNaN(Number(line.label)) && <text x={(line.points[2] ?? line.points[0])![0] - (line.points.length > 4 || line.points.length === 2 ? -3 : 13)} y={(line.points[2] ?? line.points[0])![1] - 5}>{line.label}</text>}
                        </g>;
                    })}
                    {boxes.map((box) => {
                        const change = changes?.get(box.name);
                        const node = <Node key={box.name} box={box} step={byName.get(box.name)} undone={undoOrder.get(box.name) ?? 0} focus={box.name === focused} byName={byName} note={notes?.get(byName.get(box.name)?.seq ?? -1)} />;
                        return change ? <g key={box.name} class={`change c-${change}`}>{node}</g> : node;
                    })}
                </svg>
            </div>
            {steps.length > 0 && <p class="muted small-text">A click on a step opens it. <a href={here({ tab: "steps" })}>The same as a list</a></p>}
        </div>
    );
}
