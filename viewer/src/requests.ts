// What the engine is asked: the page's scenario with the user's choices.
//
// Scenarios are text here and are never parsed: their seeds can exceed 2⁵³, and JavaScript's numbers would round them.

/** One of the values that the page offers, and how it changes the scenario: a merge patch as text. */
export interface Choice {
  name: string;
  patch: string;
}

/** Another draw of movement and traffic: its seed, how it changes the scenario, and its movement. */
export interface Draw extends Choice {
  movement: string;
}

/** What the page was given; of each list of choices the first is the scenario's own. */
export interface LiveData {
  scenario: string;
  movement: string;
  routings: Choice[];
  /** None if there is no TCP. */
  senders: Choice[];
  /** Patches of pairs, by the numbers of routing and sender, where one after the other would be wrong. */
  pairs: Record<string, string>;
  /** If movement or traffic are drawn from the seed: all that the page holds. Otherwise any seed can be had. */
  draws: Draw[];
  seed: string;
  isStatic: boolean;
}

/** A displacement in m: to the east, to the north. */
export type Displacement = [number, number];

/** What the user has chosen: positions in the lists of `LiveData`. */
export interface Chosen {
  routing: number;
  sender: number;
  /** In decimal digits. */
  seed: string;
  moved: Map<number, Displacement>;
}

export function asMade(data: LiveData): Chosen {
  return { routing: 0, sender: 0, seed: data.seed, moved: new Map() };
}

const LARGEST_SEED = 2n ** 64n - 1n;

/** A seed as the engine takes it, or undefined if the text is none. */
export function parseSeed(text: string): string | undefined {
  const digits = text.trim();
  if (!/^\d{1,20}$/.test(digits)) return undefined;
  const seed = BigInt(digits);
  return seed <= LARGEST_SEED ? seed.toString() : undefined;
}

export function requestOf(data: LiveData, chosen: Chosen, isRecorded: boolean): string {
  const draw = data.draws.find((each) => each.name === chosen.seed);
  const pair = data.pairs[`${chosen.routing} ${chosen.sender}`];
  const changes = [
    draw === undefined ? `{"seed":${chosen.seed}}` : draw.patch,
    ...(pair !== undefined ? [pair] : [data.routings[chosen.routing].patch, data.senders[chosen.sender]?.patch ?? "{}"]),
  ];
  const moved = Array.from(chosen.moved, ([node, displacement]) => [node, ...displacement]);
  const movement = JSON.stringify(draw?.movement ?? data.movement);
  return (
    `{"scenario":${data.scenario},"movement":${movement},"changes":[${changes.join()}],` +
    `"moved":${JSON.stringify(moved)},"record":${isRecorded}}`
  );
}

/** What differs between the run as made and the chosen one: for each difference what it was and what it is. */
export function differences(data: LiveData, chosen: Chosen): [string, string][] {
  const found: [string, string][] = [];
  const { routings, senders } = data;
  if (chosen.routing !== 0) found.push([routings[0].name, routings[chosen.routing].name]);
  if (chosen.sender !== 0) found.push([senders[0].name, senders[chosen.sender].name]);
  if (chosen.seed !== data.seed) found.push([`seed ${data.seed}`, `seed ${chosen.seed}`]);
  const nodes = Array.from(chosen.moved.keys()).sort((a, b) => a - b);
  if (nodes.length > 0) found.push(["", `${nodes.length === 1 ? "node" : "nodes"} ${nodes.join(", ")} moved`]);
  return found;
}
