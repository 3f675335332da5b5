// later.tsx - parts that are loaded when they are first shown.
//
// SPDX-License-Identifier: Apache-2.0
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Loading } from "./bits";

type Any = ComponentType<any>;

export function later(load: () => Promise<unknown>, name = "default"): Any {
    let loaded: Any | null = null;
    return (props: object) => {
        const [, redraw] = useState(0);
        useEffect(() => { if (!loaded) void load().then((module) => { loaded = (module as Record<string, Any>)[name] ?? null; redraw(1); }); }, []);
        const Part = loaded;
        return Part ? <Part {...props} /> : <Loading />;
    };
}
