// layout.ts - where each box of a plan stands.
//
// SPDX-License-Identifier: Apache-2.0
//
// A plan is a tree of sequences, conditions and forks.  Sizes go up, places go down: a sequence puts
// boxes side by side, a fork or a condition stacks its lists.  Nothing crosses, and the order is that of the file.

export interface Element {
    name: string;
    kind: string;
    handler?: string;
    /** Of what is called when it is undone. */
    undo?: string;
    /** Of forks and conditions: its lists, each with a label. */
    lists?: { label: string; elements: Element[] }[];
    /** Of a start: what it starts, and whether it goes on at once. */
    workflow?: string;
    isLeft?: boolean;
    /** Its file makes its input of what arrives. */
    isMade?: boolean;
    /** Of a map: what is done for each element, by an instance of its own. */
    each?: Element[];
}

export interface Box { name: string; kind: string; handler?: string; x: number; y: number; width: number; height: number; folded?: number; parts?: string[][] }
export interface Line { from: string; to: string; points: [number, number][]; label?: string; list?: string }
export interface Drawing { boxes: Box[]; lines: Line[]; width: number; height: number }

export const BOX = { width: 152, height: 52, mark: 8, gap: 36, row: 20 };
/** Longer lists and wider forks are folded until asked for. */
export const FOLD = { branches: 20, steps: 50, before: 20, after: 5 };

interface Size { width: number; height: number }

const isBranching = (element: Element): boolean => !!element.lists?.length;
export const joinName = (name: string): string => `${name} \u2192`;

function shown(element: Element, open: ReadonlySet<string>): Element["lists"] {
    const lists = element.lists ?? [];
    return lists.length > FOLD.branches && !open.has(element.name) ? [] : lists;
}

/** An element's name and those of all within. */
export const namesOf = (element: Element): string[] => [element.name, ...(element.lists?.flatMap((list) => list.elements.flatMap(namesOf)) ?? [])];

function visibleOf(elements: Element[], open: ReadonlySet<string>): { elements: Element[]; hidden: Element[]; key: string } {
    const key = `list:${elements[0]?.name ?? ""}`;
    if (elements.length <= FOLD.steps || open.has(key)) return { elements, hidden: [], key };
    return { elements: [...elements.slice(0, FOLD.before), ...elements.slice(-FOLD.after)], hidden: elements.slice(FOLD.before, -FOLD.after), key };
}

/** Measures and places; `open` names what has been unfolded. */
export function layout(elements: Element[], open: ReadonlySet<string> = new Set()): Drawing {
    const boxes: Box[] = [], lines: Line[] = [];
    const sizes = new Map<Element, Size>();

    const sizeOfList = (list: Element[]): Size => {
        const { elements: all, hidden } = visibleOf(list, open);
        let width = hidden.length ? BOX.width + BOX.gap : 0, height = all.length ? 0 : BOX.row;
        all.forEach((element, index) => {
            const size = sizeOf(element);
            width += size.width + (index ? BOX.gap : 0);
            height = Math.max(height, size.height);
        });
        return { width, height };
    };
    const sizeOf = (element: Element): Size => {
        const known = sizes.get(element);
        if (known) return known;
        let size: Size = { width: BOX.width, height: BOX.height };
        if (isBranching(element)) {
            let width = 0, height = 0;
            for (const list of shown(element, open) ?? []) {
                const inner = sizeOfList(list.elements);
                width = Math.max(width, inner.width);
                height += inner.height + (height ? BOX.row : 0);
            }
            size = { width: BOX.width + (width ? width + BOX.gap : 0) + BOX.gap + BOX.mark, height: Math.max(height, BOX.height) };
        }
        sizes.set(element, size);
        return size;
    };

    type End = { name: string; x: number; y: number };
    const connect = (from: End, to: End, label?: string, list?: string) => {
        const half = to.x - Math.min(BOX.gap / 2, (to.x - from.x) / 2);
        lines.push({ from: from.name, to: to.name, ...(label ? { label } : {}), ...(list ? { list } : {}),
                     points: from.y === to.y ? [[from.x, from.y], [to.x, to.y]] : [[from.x, from.y], [half, from.y], [half, to.y], [to.x, to.y]] });
    };
    /** Past the other lists, at the height of an empty one. */
    const bypass = (from: End, to: End, y: number, label: string, list: string) => {
        const left = from.x + BOX.gap / 2, right = to.x - BOX.gap / 2;
        lines.push({ from: from.name, to: to.name, label, list, points: [[from.x, from.y], [left, from.y], [left, y], [right, y], [right, to.y], [to.x, to.y]] });
    };
    const box = (element: Pick<Box, "name" | "kind" | "handler" | "folded" | "parts">, x: number, middle: number, width: number): { in: End; out: End } => {
        boxes.push({ ...element, x, y: middle - BOX.height / 2, width, height: BOX.height });
        return { in: { name: element.name, x, y: middle }, out: { name: element.name, x: x + width, y: middle } };
    };

    const placeList = (list: Element[], x: number, middle: number, from: End | null, label?: string, owner?: string): End | null => {
        const { elements: all, hidden, key } = visibleOf(list, open);
        let last = from, first = true;
        const step = (ends: { in: End; out: End }) => {
            if (last) connect(last, ends.in, first ? label : undefined, first ? owner : undefined);
            last = ends.out;
            first = false;
        };
        all.forEach((element, index) => {
            if (hidden.length && index === FOLD.before) {
                step(box({ name: key, kind: "folded", folded: hidden.length, parts: hidden.map(namesOf) }, x, middle, BOX.width));
                x += BOX.width + BOX.gap;
            }
            step(place(element, x, middle));
            x += sizeOf(element).width + BOX.gap;
        });
        return last;
    };
    const place = (element: Element, x: number, middle: number): { in: End; out: End } => {
        const plain = { name: element.name, kind: element.kind, ...(element.handler ? { handler: element.handler } : {}) };
        if (!isBranching(element)) return box(plain, x, middle, BOX.width);
        const size = sizeOf(element), lists = shown(element, open) ?? [];
        const head = box({ ...plain, ...(lists.length ? {} : { folded: element.lists!.length, parts: element.lists!.map((list) => list.elements.flatMap(namesOf)) }) }, x, middle, BOX.width);
        const end = box({ name: joinName(element.name), kind: "join" }, x + size.width - BOX.mark, middle, BOX.mark);
        let top = middle - size.height / 2;
        if (!lists.length) connect(head.out, end.in);
        for (const list of lists) {
            const inner = sizeOfList(list.elements), center = top + inner.height / 2;
            const owner = `${element.name}/${list.label}`;
            const out = placeList(list.elements, head.out.x + BOX.gap, center, head.out, list.label, owner);
            if (!list.elements.length) bypass(head.out, end.in, center, list.label, owner);
            else if (out) connect(out, end.in);
            top += inner.height + BOX.row;
        }
        return { in: head.in, out: end.out };
    };

    const whole = sizeOfList(elements);
    placeList(elements, 0, whole.height / 2, null);
    return { boxes, lines, width: whole.width, height: whole.height };
}

type Json = Record<string, unknown>;
const isObject = (it: unknown): it is Json => typeof it === "object" && it !== null && !Array.isArray(it);

/** The key of an element that has its name. */
export const KINDS = ["step", "condition", "fork", "parallel", "wait", "sleep", "human", "save_point", "start", "map"];

/** The elements of a deployed definition. */
export function readPlan(list: unknown): Element[] {
    if (!Array.isArray(list)) return [];
    return list.filter(isObject).map((item): Element => {
        const word = KINDS.find((kind) => typeof item[kind] === "string") ?? "step";
        const name = String(item[word] ?? item["name"] ?? "");
        const kind = word === "step" ? "task" : word === "parallel" ? "fork" : word;
        const element: Element = { name, kind };
        if (typeof item["handler"] === "string") element.handler = item["handler"];
        else if (word === "step") element.handler = name;
        if (isObject(item["compensation"]) && typeof item["compensation"]["handler"] === "string") element.undo = item["compensation"]["handler"];
        if (word === "condition")
            element.lists = [{ label: "then", elements: readPlan(item["then"]) }, { label: "else", elements: readPlan(item["else"]) }];
        if (word === "fork" && Array.isArray(item["branches"]))
            element.lists = item["branches"].map((branch, index) => ({ label: String(index + 1), elements: readPlan(branch) }));
        if (word === "parallel" && Array.isArray(item["steps"]))
            element.lists = item["steps"].map((step, index) => ({ label: String(index + 1), elements: readPlan([step]) }));
        if (word === "start") { element.workflow = String(item["workflow"] ?? ""); element.isLeft = item["wait"] === false; }
        if ("input" in item) element.isMade = true;
        if (word === "map") element.each = readPlan(item["steps"]);
        return element;
    });
}

/** Calls back with every element, those of maps included. */
export function eachElement(plan: Element[], act: (element: Element) => void): void {
    for (const it of plan) {
        act(it);
        it.lists?.forEach((list) => eachElement(list.elements, act));
        if (it.each) eachElement(it.each, act);
    }
}

/** The names of what comes before an element: of forks and conditions around it only its own list.  null: it is not there. */
export function namesBefore(plan: Element[], name: string): string[] | null {
    const passed: string[] = [];
    for (const it of plan) {
        if (it.name === name) return passed;
        for (const list of it.lists ?? []) {
            const inner = namesBefore(list.elements, name);
            if (inner) return [...passed, it.name, ...inner];
        }
        passed.push(...namesOf(it));
    }
    return null;
}

/** For a drawing without an instance: what maps do for each element stands behind them. */
export const opened = (plan: Element[]): Element[] => plan.map((it) => ({
    ...it, ...(it.lists ? { lists: it.lists.map((list) => ({ ...list, elements: opened(list.elements) })) } : {}), ...(it.each ? { lists: [{ label: "each", elements: it.each }] } : {}),
}));
