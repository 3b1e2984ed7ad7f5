// What the user has chosen, and who must know when it changes.

import type { Clock } from "./clock";
import { everything, type Filter } from "./filters";
import { NONE } from "./model";

export interface Packet {
  run: number;
  uid: number;
}

export class State {
  filter: Filter = everything();
  /** Counts changes of the filter. */
  filterVersion = 0;
  selected = NONE;
  hovered = NONE;
  /** Node to which next hops are shown. */
  destination = NONE;
  packet: Packet | undefined;
  /** Are pairs of nodes within range of each other joined by lines? */
  showsLinks = true;
  /** Flow of the plots. */
  flow = NONE;
  /** Only what is so at this very instant is drawn, as after a step. */
  isExact = true;
  /** The part of time that the timeline shows, in ns. */
  from = 0;
  to: number;
  /** What a live page adds to the address: the choices of each run. */
  choices: [key: string, value: string][] = [];
  private readonly listeners: (() => void)[] = [];

  constructor(readonly clock: Clock) {
    this.to = clock.end;
  }

  /** Takes over what another state shows: the moment, and what was chosen in it. */
  continue(before: State): void {
    const { clock } = this;
    clock.speed = before.clock.speed;
    clock.seek(before.clock.t);
    this.filter.kinds = before.filter.kinds;
    this.showsLinks = before.showsLinks;
    this.selected = before.selected;
    this.destination = before.destination;
    this.flow = before.flow;
    // Who saw all sees all, however long the new runs are.
    const sawAll = before.from <= 0 && before.to >= before.clock.end;
    const length = sawAll ? clock.end : Math.min(clock.end, before.to - before.from);
    this.from = sawAll ? 0 : Math.max(0, Math.min(clock.end - length, before.from));
    this.to = this.from + length;
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  changed(): void {
    for (const each of this.listeners) each();
  }

  filterChanged(): void {
    this.filterVersion++;
    this.changed();
  }

  /** Shows another part of time, around a moment that stays where it is. */
  zoom(factor: number, around: number): void {
    const length = Math.min(this.clock.end, Math.max(1000, (this.to - this.from) * factor));
    const part = (around - this.from) / (this.to - this.from);
    this.show(around - part * length, length);
  }

  private show(from: number, length: number): void {
    this.from = Math.max(0, Math.min(this.clock.end - length, from));
    this.to = this.from + length;
    this.changed();
  }

  /** Keeps the current time in the part that is shown. */
  follow(): void {
    const { t, end } = this.clock;
    const length = this.to - this.from;
    if (t >= this.from && t <= this.to) return;
    this.from = Math.max(0, Math.min(end - length, t < this.from ? t - 0.1 * length : t - 0.1 * length));
    this.to = this.from + length;
  }
}
