// What the page tells about itself: `window.manetlabReplay`, for tests and for the curious.

import type { App } from "./main";
import { type Run, STEPS } from "./model";
import { stallsOf } from "./stalls";
import type { State } from "./state";
import { eventText } from "./words";

export function inspection(app: App, runs: Run[], state: State): object {
  /** What is so at a time in s: positions, frames on the air, queues; times in ns. */
  const at = (run: Run, t: number): object => {
    const { frames } = run;
    const { t: begin, air, node, to, carries, shape, uid } = frames.columns;
    return {
      nodes: Array.from({ length: run.nodes }, (_, each) => run.movement.position(each, t)),
      queues: Array.from({ length: run.nodes }, (_, each) => run.queueAt(each, t)),
      frames: run.onAir(t).map((row) => ({
        start_ns: begin[row],
        end_ns: begin[row] + air[row],
        node: node[row],
        to: to[row],
        kind: run.shapes[shape[row]].kind,
        carries: ["data", "routing", "arp", "control"][carries[row]],
        uid: uid[row],
        receivers: run.receivers(row),
      })),
    };
  };
  return {
    /** The state of all runs at a time in s, whatever is shown. */
    state: (seconds: number) => runs.map((run) => at(run, Math.round(seconds * 1e9))),
    /** Goes to a time in ns, and draws. */
    seek: (ns: number) => {
      app.seek(ns);
      app.draw();
    },
    /** Draws what playing at a speed shows at a time in ns. */
    play: (ns: number, speed: number) => {
      state.clock.isPlaying = false;
      state.clock.speed = speed;
      state.clock.seek(ns);
      state.isExact = false;
      app.draw();
    },
    /** The time shown in ns. */
    time: () => state.clock.t,
    speed: () => state.clock.speed,
    isPlaying: () => state.clock.isPlaying,
    /** Numbers of events: all, those that pass the filter, and of each table. */
    counts: () =>
      app.stageList.map(({ run, filtered }) => ({
        events: run.events,
        shown: filtered.events.length,
        frames: run.frames.length,
        framesShown: filtered.frames.length,
        steps: Object.fromEntries(
          STEPS.map((step, i) => [step, run.hops.columns.step.subarray(0, run.hops.length).filter((each) => each === i).length]),
        ),
        losses: filtered.drops.length,
        routes: run.routes.length,
        queues: run.queues.length,
        windows: run.windows.length,
        receptions: run.receptions.length,
      })),
    nextHops: (destination: number, seconds: number, run = 0) =>
      Array.from(runs[run].nextHops(destination, Math.round(seconds * 1e9))),
    /** A packet's journey: time in ns, node and words. */
    journey: (uid: number, run = 0) =>
      runs[run].journey(uid).map((event) => ({
        t_ns: runs[run].timeOf(event),
        node: runs[run].nodeOf(event),
        text: eventText(runs[run], event),
      })),
    /** What was drawn last: marks, lines and rings, how many, and what draws them. */
    drawn: (run = 0) => {
      const { scene, renderer } = app.stageList[run];
      return {
        renderer: renderer.name,
        marks: scene.marks.count,
        lines: scene.lines.count - scene.linksShown,
        links: scene.linksShown,
        rings: scene.rings.count,
        drops: scene.dropMarks.map(({ node }) => node),
        frames: scene.framesShown,
      };
    },
    /** Where a point of the field is drawn, in pixels of the page. */
    toPage: (x: number, y: number, run = 0) => {
      const { camera, root } = app.stageList[run];
      const box = root.getBoundingClientRect();
      const [sx, sy] = camera.toScreen(x, y);
      return [box.left + sx, box.top + sy];
    },
    /** What held a flow up, in ns, as docs/recording.md has it. */
    stalls: (flow: number, run = 0) => stallsOf(runs[run], flow),
    link: () => app.link(),
    cost: () => ({ ...app.cost }),
    /** Draws so many pictures, a step of simulated time apart, and returns the ms of each. */
    bench: (pictures: number, stepNs: number) => {
      state.isExact = false;
      const took: number[] = [];
      for (let i = 0; i < pictures; i++) {
        const began = performance.now();
        state.clock.seek(state.clock.t + stepNs);
        app.draw();
        app.finish();
        took.push(performance.now() - began);
      }
      return took;
    },
  };
}
