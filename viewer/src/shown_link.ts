// What of a run is shown, in the page's address: plotted flow, part of time, kinds and flows that are switched off.

import { linkTime, parseTime } from "./clock";
import { everything, KINDS } from "./filters";
import type { State } from "./state";

/** The parts of the address for what is not as usual. */
export function shownInLink(state: State, usualFlow: number): string[] {
  const parts: string[] = [];
  if (state.flow !== usualFlow) parts.push(`flow=${state.flow}`);
  if (state.from > 0 || state.to < state.clock.end) parts.push(`zoom=${linkTime(state.from)}-${linkTime(state.to)}`);
  const { kinds } = state.filter;
  const hidden: string[] = KINDS.filter((kind) => !kinds[kind]);
  if (!state.showsLinks) hidden.push("links");
  const usual = everything().kinds;
  if (!state.showsLinks || KINDS.some((kind) => kinds[kind] !== usual[kind])) parts.push(`hide=${hidden.join()}`);
  if (state.filter.flows !== null) parts.push(`flows=${[...state.filter.flows].join()}`);
  return [...parts, ...state.choices.map(([key, value]) => `${key}=${encodeURIComponent(value)}`)];
}

/** Takes over what an address says; what it cannot mean is left as it is. */
export function readShown(link: Map<string, string>, state: State, flows: readonly number[]): void {
  const flow = Number(link.get("flow") ?? Number.NaN);
  if (flows.includes(flow)) state.flow = flow;
  const [from, to] = (link.get("zoom") ?? "").split("-").map((each) => parseTime(each));
  if (from !== undefined && to !== undefined && from < to && to <= state.clock.end) [state.from, state.to] = [from, to];
  const hidden = link.get("hide")?.split(",");
  if (hidden !== undefined) {
    for (const kind of KINDS) state.filter.kinds[kind] = !hidden.includes(kind);
    state.showsLinks = !hidden.includes("links");
  }
  const chosen = link.get("flows")?.split(",").map(Number);
  if (chosen !== undefined) state.filter.flows = new Set(chosen.filter((each) => flows.includes(each)));
}
