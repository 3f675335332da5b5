// graph.tsx - the plan of an instance as a picture.
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { BOX, joinName, layout, type Box, type Element } from "../base/layout";
import { here, setQuery } from "../base/place";
import { now } from "../base/clock";
import { duration } from "../base/time";
import { visible, words } from "../base/text";
import type { StepRow } from "../base/types";
import { groupOf, iconOf } from "./bits";
import { Icon } from "./icons";

const KIND_ICON: Record<string, string> = { task: "box", condition: "diamond", fork: "fork", join: "fork", wait: "envelope", sleep: "hourglass", human: "head", save_point: "flag", folded: "more" };
const PAD = 16;
const ZOOMS = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2];
const CURRENT = new Set(["ready", "running", "waiting", "waiting_decision", "paused", "compensation"]);

const cut = (text: string, length: number): string => text.length > length ? `${text.slice(0, length - 1)}…` : text;

function took(step: StepRow | undefined): string {
    if (!step?.started_at) return "";
    const end = step.finished_at ? Date.parse(step.finished_at) : step.locked_by ? now.value : 0;
    const text = end ? duration(Math.max(0, end - Date.parse(step.started_at))) : "";
    return step.attempts ? `${text}${text && ", "}${step.attempts}/${step.max_attempts} failed` : text;
}

function Node({ box, step, undone, focus }: { box: Box; step: StepRow | undefined; undone: number; focus: boolean }) {
    const status = step?.status ?? "";
    const isTaken = status !== "" && !["pending", "skipped"].includes(status);
    const name = box.kind === "folded" ? `${box.folded} steps` : visible(box.name);
    const second = box.folded && box.kind === "fork" ? `${box.folded} branches` : status === "skipped" ? "not taken" : took(step) || (status && status !== "completed" ? words(status) : "");
    if (box.kind === "join")
        return <g data-testid="node" data-step={box.name} data-kind="join" class="node join"><rect x={box.x} y={box.y + 8} width={box.width} height={box.height - 16} rx={3} /></g>;
    return (
        <g data-testid={box.kind === "folded" || box.folded ? "fold" : "node"} data-step={box.name} data-seq={step?.seq} data-status={status} data-kind={box.kind} data-taken={isTaken} role="button" tabIndex={focus ? 0 : -1}
           aria-label={`${name}, ${words(box.kind)}${status && `, ${words(status)}`}${second && `, ${second}`}`}
           class={`node g-${status ? groupOf(status) : "plan"}${CURRENT.has(status) ? " current" : ""}${isTaken ? "" : " dim"}`}
           transform={`translate(${box.x} ${box.y})`}>
            <title>{name}{box.handler ? `\n${box.handler}` : ""}{step?.error ? `\n${step.error}` : ""}</title>
            <rect class="shape" width={box.width} height={box.height} rx={box.kind === "condition" ? 26 : box.kind === "fork" ? 2 : 6} />
            <g transform="translate(10 9)"><Icon name={box.kind === "task" || !step ? (step ? iconOf(status) : KIND_ICON[box.kind] ?? "box") : KIND_ICON[box.kind] ?? "box"} size={14} /></g>
            <text class="name" x={30} y={21}>{cut(name, 18)}</text>
            <text class="second" x={30} y={39}>{cut(undone ? `undone, ${undone}.` : second, 22)}</text>
        </g>
    );
}

/** Lists that were not entered: all their steps are pending or skipped. */
function isEntered(names: string[], byName: Map<string, StepRow>): boolean {
    return names.some((name) => { const step = byName.get(name); return !!step && !["pending", "skipped"].includes(step.status); });
}

export function Graph({ plan, steps }: { plan: Element[]; steps: StepRow[] }) {
    const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
    const [zoom, setZoom] = useState(1);
    const place = useRef<HTMLDivElement>(null);
    const drawing = useMemo(() => layout(plan, open), [plan, open]);
    const byName = useMemo(() => new Map(steps.map((it) => [it.name, it])), [steps]);
    const undoOrder = useMemo(() => new Map([...steps].filter((it) => it.status === "rolled_back" && it.kind === "task").sort((a, b) => b.commit_no - a.commit_no).map((it, index) => [it.name, index + 1])), [steps]);
    const currentName = steps.find((it) => CURRENT.has(it.status))?.name ?? steps.find((it) => it.status === "failed")?.name ?? drawing.boxes[0]?.name;
    useEffect(() => {
        const box = drawing.boxes.find((it) => it.name === currentName), element = place.current;
        if (box && element) element.scrollLeft = box.x - element.clientWidth / 2 + BOX.width / 2;
    }, [plan]);
    const fit = () => { const element = place.current; if (element) setZoom(Math.min(1, Math.max(0.25, (element.clientWidth - 8) / (drawing.width + 2 * PAD)))); };
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
        place.current?.querySelectorAll<SVGGElement>("g[tabindex]")[Math.max(0, Math.min(nodes.length - 1, at + move))]?.focus();
    };
    const listNames = useMemo(() => {
        const found = new Map<string, string[]>();
        const names = (elements: Element[]): string[] => elements.flatMap((it) => [it.name, ...(it.lists?.flatMap((list) => names(list.elements)) ?? [])]);
        const walk = (elements: Element[]) => elements.forEach((it) => it.lists?.forEach((list) => { found.set(`${it.name}/${list.label}`, names(list.elements)); walk(list.elements); }));
        walk(plan);
        return found;
    }, [plan]);
    const taken = (name: string): boolean => { const step = byName.get(name); return !!step && !["pending", "skipped", ""].includes(step.status); };
    return (
        <div class="graph" data-testid="graph">
            <div class="row tools">
                <button type="button" data-testid="graph-fit" onClick={fit}>fit</button>
                <button type="button" data-testid="graph-out" aria-label="Smaller" onClick={() => setZoom(ZOOMS.filter((it) => it < zoom).at(-1) ?? 0.25)}>−</button>
                <button type="button" data-testid="graph-in" aria-label="Larger" onClick={() => setZoom(ZOOMS.find((it) => it > zoom) ?? 2)}>+</button>
            </div>
            <div class="scroll canvas" ref={place} tabIndex={0} role="group" aria-label="Graph">
                <svg width={(drawing.width + 2 * PAD) * zoom} height={(drawing.height + 2 * PAD) * zoom} viewBox={`${-PAD} ${-PAD} ${drawing.width + 2 * PAD} ${drawing.height + 2 * PAD}`}
                     onKeyDown={onKey} onClick={(event) => { const node = (event.target as globalThis.Element).closest<SVGGElement>("g[data-step]"); if (node?.dataset["step"]) onOpen(node.dataset["step"]); }}>
                    {drawing.lines.map((line, index) => {
                        const entered = line.list ? (listNames.get(line.list)?.length ? isEntered(listNames.get(line.list)!, byName) : true) : true;
                        const from = line.from.replace(joinName(""), "");
                        const isTaken = entered && taken(from) && (line.list !== undefined || taken(line.to.replace(joinName(""), "")));
                        return <g key={index} data-testid="edge" data-from={line.from} data-to={line.to} data-taken={isTaken} class={isTaken ? "edge" : "edge dim"}>
                            <polyline points={line.points.map((it) => it.join(",")).join(" ")} />
                            {line.label && Number.isNaN(Number(line.label)) && <text x={(line.points[2] ?? line.points[0])![0] - (line.points.length > 4 ? -3 : 8)} y={(line.points[2] ?? line.points[0])![1] - 5}>{line.label}</text>}
                        </g>;
                    })}
                    {drawing.boxes.map((box) => <Node key={box.name} box={box} step={byName.get(box.name)} undone={undoOrder.get(box.name) ?? 0} focus={box.name === currentName} />)}
                </svg>
            </div>
            <p class="muted small-text">A click on a step opens it. <a href={here({ tab: "steps" })}>The same as a list</a></p>
        </div>
    );
}
