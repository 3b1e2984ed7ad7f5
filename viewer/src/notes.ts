// What a page says of a run that it has made itself.

import type { RunNote } from "./model";
import type { RecordingHead } from "./recording";
import { type Chosen, differences, type LiveData } from "./requests";

/** The note of a chosen run, from that of the run as made; `head` is the run's own, `was` that of the run as made. */
export function noteFor(note: RunNote, was: RecordingHead, data: LiveData, chosen: Chosen, head: RecordingHead): RunNote {
  const facts = new Map(note.facts);
  const renewed = (each: string): string => {
    if (each === `${was.nodes} nodes`) return `${head.nodes} nodes`;
    return each === `${was.duration_s} s` ? `${head.duration_s} s` : each;
  };
  const summary = new Set(note.summary.map(renewed));
  /** An empty value: nothing is said. */
  const set = (term: string, value: string): void => {
    const said = facts.get(term);
    if (said === undefined || said === value) return;
    summary.delete(said);
    if (value === "") facts.delete(term);
    else facts.set(term, value);
  };
  // The hash is of the scenario as it was.
  set("Scenario", "");
  const { edit } = chosen;
  if (edit?.resolved !== undefined) {
    // The text may have another profile, and a sender and a protocol that the page does not list.
    set("Profile", "");
    if (edit.sender === undefined) set("Transport", "");
    if (edit.routing === undefined) set("Routing", head.routing.toUpperCase());
  }
  if (chosen.routing !== 0) set("Routing", data.routings[chosen.routing].name.toUpperCase());
  if (chosen.sender !== 0) set("Transport", `TCP ${data.senders[chosen.sender].name}`);
  set("Nodes", String(head.nodes));
  set("Duration", `${head.duration_s} s`);
  set("Seed", chosen.seed);
  set("Made by", "this page");
  return {
    ...note,
    name: differences(data, chosen).map(([, is]) => is).join(", "),
    facts: Array.from(facts),
    summary: Array.from(summary),
    missing: [],
  };
}
