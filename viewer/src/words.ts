// Events in words, for the list, for screen readers and for a packet's journey.

import {
  BROADCAST,
  DROPPED,
  type EventRef,
  FLOW_STEPS,
  FRAMES,
  HOPS,
  NOTICES,
  OUTCOMES,
  type PacketShape,
  QUEUES,
  ROUTES,
  type Run,
  STEPS,
  WINDOWS,
} from "./model";

/** Why packets are dropped, by the names of docs/metrics.md. */
const REASONS: Record<string, string> = {
  "retry-limit": "the MAC reached its retry limit",
  duplicate: "the frame had already been received: its ACK was lost",
  "queue-full": "the interface queue was full",
  "early-drop": "RED refused it before the queue was full",
  "arp-hold-replaced": "a newer packet took its place while ARP asked for the address",
  "arp-unresolved": "the neighbour did not answer ARP",
  "no-route": "no route was found in time",
  "link-failure": "the link to the next hop failed",
  "ttl-expired": "its time to live expired",
  "routing-loop": "it came back to its source",
  "buffer-full": "the routing protocol’s buffer was full",
  "buffer-timeout": "it waited too long in a buffer",
  "salvage-limit": "it had been salvaged too often",
  "already-seen": "a copy of it had already been received",
  "local-maximum": "no neighbour is nearer to the destination",
  "not-forwarded": "the node chose not to forward it",
  "hold-timeout": "the hold ended without an answer",
  "throttle-full": "too many packets waited at the throttle",
  "flow-ended": "its flow had ended",
  absent: "the node is not there at that time",
};

const WHATS: Record<string, string> = {
  tcp: "TCP segment",
  ack: "TCP ACK",
  cbr: "CBR packet",
  udp: "UDP datagram",
  adp: "ADP packet",
  "adp-ack": "ADP acknowledgement",
  psp: "PSP packet",
  "psp-ack": "PSP acknowledgement",
  rtcp: "RTCP report",
  "qos-report": "INSIGNIA QoS report",
  "airmail-parity": "AIRMAIL parity packet",
  "airmail-poll": "AIRMAIL poll",
  "airmail-status": "AIRMAIL status",
  rreq: "route request",
  rrep: "route reply",
  rerr: "route error",
  hello: "HELLO",
  "rrep-ack": "RREP-ACK",
  update: "routing update",
  probe: "probe",
  "probe-reply": "probe reply",
  tc: "topology control message",
  "hello+tc": "HELLO and topology control message",
  ogm: "originator message",
  qry: "TORA query",
  upd: "TORA update",
  clr: "TORA clear",
  imep: "IMEP packet",
  lq: "localised query",
  rn: "route notification",
  rd: "route delete",
  erdn: "route disconnection notification",
  ersn: "route successful notification",
};

const OUTCOME_WORDS: Record<string, string> = {
  received: "received",
  collided: "lost to a collision",
  deaf: "missed: the node was transmitting",
  "too-weak": "too weak to decode",
  "out-of-reach": "out of reach",
};

export function reasonText(name: string): string {
  return REASONS[name] ?? name.replaceAll("-", " ");
}

/** A drop reason as a short label in the picture. */
export function reasonLabel(name: string): string {
  return name.replaceAll("-", " ");
}

export function whatText(what: string): string {
  return WHATS[what] ?? what.replaceAll("-", " ");
}

export function outcomeText(outcome: string): string {
  return OUTCOME_WORDS[outcome] ?? outcome.replaceAll("-", " ");
}

function nodeText(run: Run, node: number): string {
  return node === BROADCAST ? "all neighbours" : node < 0 ? "nobody" : `node ${run.nodeName(node)}`;
}

export function packetText(packet: PacketShape | undefined, uid: number, number = -1): string {
  if (packet === undefined) return `packet ${uid}`;
  const which = number >= 0 && (packet.what === "tcp" || packet.what === "ack") ? ` ${number}` : "";
  return `${whatText(packet.what)}${which}`;
}

/** A packet with its number in the run. */
function numbered(packet: PacketShape | undefined, uid: number, number = -1): string {
  return packet === undefined ? `packet #${uid}` : `${packetText(packet, uid, number)} #${uid}`;
}

const FRAME_WORDS: Record<string, string> = { rts: "RTS", cts: "CTS", ack: "ACK" };
const FOR_WORDS = ["data", "routing", "ARP"];

/** What a frame is: `RTS`, `data frame`, `routing frame`. */
export function frameText(run: Run, row: number): string {
  const shape = run.shapes[run.frames.columns.shape[row]];
  return FRAME_WORDS[shape.kind] ?? `${FOR_WORDS[shape.carries] ?? "data"} frame`;
}

/** What became of a frame at its receivers, in words. */
export function receptionText(run: Run, row: number): string {
  const receivers = run.receivers(row);
  if (receivers.length === 0) return "";
  if (receivers.length === 1) return `${outcomeText(receivers[0].outcome)}`;
  const counts = OUTCOMES.map((outcome) => [outcome, receivers.filter((each) => each.outcome === outcome).length] as const);
  return counts
    .filter(([, count]) => count > 0)
    .map(([outcome, count]) => `${outcomeText(outcome)} ${count}×`)
    .join(", ");
}

/** An event as a sentence without its time and node. */
export function eventText(run: Run, event: EventRef): string {
  const { table, row } = event;
  switch (table) {
    case FRAMES: {
      const { to, shape, uid } = run.frames.columns;
      const outcome = receptionText(run, row);
      const packet = uid[row] >= 0 ? ` (${numbered(run.packet(uid[row]), uid[row])})` : "";
      const { bytes } = run.shapes[shape[row]];
      return `${frameText(run, row)} to ${nodeText(run, to[row])}, ${bytes} B${packet}${outcome === "" ? "" : `: ${outcome}`}`;
    }
    case HOPS:
      return hopText(run, row);
    case ROUTES: {
      const { dst, next, hops } = run.routes.columns;
      if (next[row] < 0) return `no route to ${nodeText(run, dst[row])} any more`;
      const length = hops[row] >= 0 ? `, ${hops[row]} ${hops[row] === 1 ? "hop" : "hops"}` : "";
      return `next hop to ${nodeText(run, dst[row])} is ${nodeText(run, next[row])}${length}`;
    }
    case QUEUES:
      return `queue length ${run.queues.columns.length[row]}`;
    case WINDOWS: {
      const { flow, cwnd, ssthresh, rto } = run.windows.columns;
      const threshold = ssthresh[row] > 1e6 ? "" : `, ssthresh ${ssthresh[row].toFixed(1)}`;
      return `flow ${flow[row]}: cwnd ${cwnd[row].toFixed(2)}${threshold}, RTO ${(rto[row] / 1e9).toFixed(2)} s`;
    }
    case NOTICES: {
      const { notice, dst, detail } = run.notices.columns;
      const more = run.words[detail[row]];
      const what = run.words[notice[row]].replaceAll("-", " ");
      return `${what}: ${nodeText(run, dst[row])}${more === "" ? "" : ` (${more.replaceAll("-", " ")})`}`;
    }
    case FLOW_STEPS: {
      const { flow, step } = run.flowSteps.columns;
      return `flow ${flow[row]}: ${run.words[step[row]].replaceAll("-", " ")}`;
    }
    default:
      return "";
  }
}

function hopText(run: Run, row: number): string {
  const { step, packet, uid, next, reason, number } = run.hops.columns;
  const shape = run.packets[packet[row]];
  const what = numbered(shape, uid[row], number[row]);
  switch (STEPS[step[row]]) {
    case "made":
      return `makes ${what} for ${nodeText(run, shape.dst)}, ${shape.bytes} B`;
    case "sent":
      return `sends ${what} down to the queue, next hop ${nodeText(run, next[row])}`;
    case "delivered":
      return `${what} from ${nodeText(run, shape.src)} is delivered`;
    case "marked":
      return `the queue marks ${what} for congestion`;
    case "kept":
      return `keeps ${what}`;
    default:
      return step[row] === DROPPED ? `drops ${what}: ${reasonText(run.words[reason[row]])}` : what;
  }
}

