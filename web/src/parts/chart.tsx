// chart.tsx - figures over time: bars and lines with one crosshair, and the same as a table.
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import type UPlot from "uplot";
import { go } from "../base/place";
import { theme, timeForm } from "../base/settings";
import { grouped } from "../base/text";
import { duration, inZone } from "../base/time";

export interface Line { label: string; colour: string; values: (number | null)[]; isBar?: boolean }
export interface ChartSpec { id: string; title: string; from: number; stepS: number; lines: Line[]; text: (value: number) => string; link?: (from: number, to: number) => string }

/** Loaded when a chart is first drawn. */
let loading: Promise<typeof UPlot> | null = null;
const load = (): Promise<typeof UPlot> => loading ??= import("uplot").then((it) => it.default);

const HEIGHT = 150;
const colourOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function clockText(at: number, stepS: number): string {
    const text = inZone(at, timeForm.value === "utc" ? "UTC" : undefined).split(" ");
    return stepS >= 3600 ? `${text[0]} ${text[1]}${stepS < 86_400 ? ` ${text[2]!.slice(0, 5)}` : ""}` : text[2]!.slice(0, 5);
}

function draw(library: typeof UPlot, place: HTMLElement, spec: ChartSpec, point: (index: number | null) => void): UPlot {
    const times = spec.lines[0]!.values.map((_, index) => spec.from / 1000 + index * spec.stepS);
    const axis = { stroke: colourOf("--muted"), grid: { stroke: colourOf("--line"), width: 1 }, ticks: { show: false }, font: "11px system-ui", size: 24 };
    const bars = library.paths.bars!({ size: [0.8, 40] });
    const plot = new library({
        width: Math.max(160, place.clientWidth), height: HEIGHT, legend: { show: false }, padding: [8, 8, 0, 0],
        cursor: { sync: { key: "cairn" }, drag: { x: false, y: false }, y: false, points: { show: false } },
        scales: { x: { time: true }, y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
        axes: [{ ...axis, values: (_, ticks) => ticks.map((it) => clockText(it * 1000, spec.stepS)), space: 70 }, { ...axis, size: 44, values: (_, ticks) => ticks.map((it) => Number.isInteger(it) || spec.text(1) !== "1" ? spec.text(it) : "") }],
        series: [{}, ...spec.lines.map((line) => {
            const colour = colourOf(line.colour);
            return line.isBar ? { label: line.label, stroke: colour, fill: `${colour}66`, width: 1, paths: bars, points: { show: false } } : { label: line.label, stroke: colour, width: 1.5, points: { show: (plot: UPlot, at: number) => [...(plot.data[at] ?? [])].filter((it) => it !== null).length < 3, size: 4, fill: colour }, spanGaps: true };
        })],
        hooks: { setCursor: [(it) => point(it.cursor.idx ?? null)] },
    }, [times, ...spec.lines.map((line) => line.values)] as UPlot.AlignedData, place);
    plot.over.addEventListener("click", () => {
        const at = plot.cursor.idx;
        if (spec.link && at !== null && at !== undefined) go(spec.link(times[at]! * 1000, (times[at]! + spec.stepS) * 1000));
    });
    return plot;
}

export function Chart({ spec }: { spec: ChartSpec }) {
    const place = useRef<HTMLDivElement>(null), plot = useRef<UPlot | null>(null);
    const [at, setAt] = useState<number | null>(null);
    const count = spec.lines[0]?.values.length ?? 0;
    const look = `${theme.value} ${timeForm.value} ${count} ${spec.stepS}`;
    const latest = useRef(spec);
    latest.current = spec;
    useEffect(() => {
        let isOver = false;
        const element = place.current!;
        const scheme = matchMedia("(prefers-color-scheme: dark)");
        const renew = () => void load().then((library) => { if (isOver) return; plot.current?.destroy(); plot.current = draw(library, element, latest.current, setAt); });
        const sizes = new ResizeObserver(() => plot.current?.setSize({ width: Math.max(160, element.clientWidth), height: HEIGHT }));
        renew();
        sizes.observe(element);
        scheme.addEventListener("change", renew);
        return () => { isOver = true; sizes.disconnect(); scheme.removeEventListener("change", renew); plot.current?.destroy(); plot.current = null; };
    }, [look]);
    useEffect(() => {
        const times = spec.lines[0]!.values.map((_, index) => spec.from / 1000 + index * spec.stepS);
        plot.current?.setData([times, ...spec.lines.map((line) => line.values)] as UPlot.AlignedData);
    }, [spec.from, spec.lines.map((line) => line.values.join()).join(";")]);
    const shown = at === null ? null : Math.min(at, count - 1), moment = (index: number) => spec.from + index * spec.stepS * 1000;
    const total = (line: Line): number => line.values.reduce((sum: number, it) => sum + (it ?? 0), 0);
    const last = (line: Line): number | null => [...line.values].reverse().find((it) => it !== null) ?? null;
    const value = (line: Line): string => { const it = shown !== null ? line.values[shown] ?? null : line.isBar ? total(line) : last(line); return it === null ? "–" : spec.text(it); };
    return (
        <figure class="card chart" data-testid={spec.id}>
            <figcaption class="row between"><b>{spec.title}</b><span class="muted small-text">{shown !== null ? clockText(moment(shown), spec.stepS) : ""}</span></figcaption>
            <p class="keys small-text">{spec.lines.map((line) => <span key={line.label}><i class="key" style={{ background: `var(${line.colour})` }} />{line.label} <b class="num">{value(line)}</b></span>)}</p>
            <div class="plot" ref={place} aria-hidden="true" />
            <details><summary class="small-text">As a table</summary><div class="scroll"><table class="rows" data-testid="chart-table"><caption class="hidden">{spec.title}</caption><thead><tr><th>from</th>{spec.lines.map((line) => <th key={line.label} class="right">{line.label}</th>)}</tr></thead>
                <tbody>{Array.from({ length: count }, (_, index) => index).filter((index) => spec.lines.some((line) => line.values[index])).reverse().map((index) => (
                    <tr key={index}><td>{spec.link ? <a href={spec.link(moment(index), moment(index + 1))}>{clockText(moment(index), spec.stepS)}</a> : clockText(moment(index), spec.stepS)}</td>{spec.lines.map((line) => <td key={line.label} class="right num">{line.values[index] === null || line.values[index] === undefined ? "–" : spec.text(line.values[index]!)}</td>)}</tr>))}</tbody></table></div></details>
        </figure>
    );
}

export const count = (value: number): string => grouped(Math.round(value));
export const time = (value: number): string => duration(value);
