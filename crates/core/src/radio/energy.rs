//! What radios take from their batteries.
//!
//! *Read*: Feeney and Nilsson, *Investigating the energy consumption of a wireless network interface in an ad
//! hoc networking environment* (INFOCOM 2001).
//!
//! **Implemented.** A radio transmits, receives, senses a busy medium, is idle, or is off; each takes its
//! current at one voltage. It receives the first frame that reaches it while it does neither, if that is
//! strong enough to be decoded (with errors by rate, to be sensed), until the frame's end, whoever it is for
//! and whatever becomes of it. Of energy that is sent or received, each layer has its share. An absent node
//! is off. An empty battery is an event: the node is absent from then on.
//!
//! **Not implemented.** Sleep; batteries that recover or whose voltage falls.

use serde::Serialize;

use crate::kernel::{MAX_TIME_S, Span, Time};
use crate::mobility::Path;
use crate::params::table;
use crate::wire::mac::{Class, Frame, FrameKind};

table! {
    /// The radio's currents, and what its battery holds.
    pub struct EnergySpec {
        /// The voltage.
        voltage_v: f64, "V", [0.1, 1000.0];
        /// The current while it transmits.
        tx_a: f64, "A", [0.0, 1000.0];
        /// While it receives.
        rx_a: f64, "A", [0.0, 1000.0];
        /// While it senses a busy medium.
        busy_a: f64, "A", [0.0, 1000.0];
        /// While it is idle.
        idle_a: f64, "A", [0.0, 1000.0];
        /// What each node's battery holds; without it, there is no end.
        battery_j: Option<f64> = "Option::default", "J", [1e-6, 1e12];
    }
}

/// What energy is for: the frames of the layers, sent and received, and the rest.
const PURPOSES: usize = 6;
const DATA: usize = 0;
const ROUTING: usize = 1;
const ARP: usize = 2;
const MAC: usize = 3;
const BUSY: usize = 4;
const IDLE: usize = 5;

/// What a frame is for: RTS, CTS and ACK are the MAC's.
fn purpose(frame: &Frame) -> usize {
    match (frame.kind, frame.class) {
        (FrameKind::Data, Class::Data) => DATA,
        (FrameKind::Data, Class::Routing) => ROUTING,
        (FrameKind::Data, Class::Arp) => ARP,
        _ => MAC,
    }
}

/// One node's radio.
#[derive(Clone, Copy, Debug, Default)]
struct Radio {
    /// Up to when its energy has been counted.
    counted: Time,
    transmits_until: Time,
    sends: usize,
    receives_until: Time,
    hears: usize,
    busy_until: Time,
    spent_j: [f64; PURPOSES],
    died: Option<Time>,
}

/// See the module's head.
#[derive(Clone, Debug)]
pub struct Energy {
    tx_w: f64,
    rx_w: f64,
    busy_w: f64,
    idle_w: f64,
    battery_j: Option<f64>,
    radios: Vec<Radio>,
}

/// What nodes spent over the whole run.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct EnergyTotals {
    /// All of it, J.
    pub energy_j: f64,
    /// What was spent on frames, sent or received, J.
    pub energy_without_idle_j: f64,
    /// That on frames with data, J.
    pub energy_data_j: f64,
    /// On frames with routing packets, J.
    pub energy_routing_j: f64,
    /// On frames with ARP packets, J.
    pub energy_arp_j: f64,
    /// On RTS, CTS and ACK, J.
    pub energy_mac_j: f64,
    /// On sensing frames that were not received, J.
    pub energy_busy_j: f64,
    /// On waiting, J.
    pub energy_idle_j: f64,
    /// All of it over the payload delivered in the window, J/kB; none if nothing was delivered.
    pub energy_per_delivered_kb_j: Option<f64>,
    /// Nodes whose battery is empty.
    pub energy_dead_nodes: u64,
    /// When the first battery was empty, s; none if none was.
    pub energy_first_death_s: Option<f64>,
    /// When half of them were, s.
    pub energy_half_dead_s: Option<f64>,
}

impl Energy {
    /// The radios of so many nodes.
    pub fn new(spec: &EnergySpec, nodes: usize) -> Energy {
        let watts = |current_a: f64| current_a * spec.voltage_v;
        Energy {
            tx_w: watts(spec.tx_a),
            rx_w: watts(spec.rx_a),
            busy_w: watts(spec.busy_a),
            idle_w: watts(spec.idle_a),
            battery_j: spec.battery_j,
            radios: vec![Radio::default(); nodes],
        }
    }

    /// Can batteries be empty?
    pub fn has_end(&self) -> bool {
        self.battery_j.is_some()
    }

    /// Is, or was, the node's battery empty at this time?
    pub fn is_dead(&self, node: u32, at: Time) -> bool {
        self.radios[node as usize].died.is_some_and(|died| died <= at)
    }

    /// A node transmits.
    pub fn transmit(&mut self, now: Time, node: u32, frame: &Frame, path: &Path) {
        self.count(now, node, path);
        let radio = &mut self.radios[node as usize];
        radio.transmits_until = now + frame.airtime;
        radio.sends = purpose(frame);
        // What it was receiving is lost.
        radio.receives_until = radio.receives_until.min(now);
    }

    /// A frame's first bit reaches a node; is it strong enough to be decoded?
    pub fn hear(&mut self, now: Time, node: u32, frame: &Frame, receivable: bool, path: &Path) {
        self.count(now, node, path);
        let radio = &mut self.radios[node as usize];
        let end = now + frame.airtime;
        if receivable && radio.transmits_until <= now && radio.receives_until <= now {
            radio.receives_until = end;
            radio.hears = purpose(frame);
        }
        radio.busy_until = radio.busy_until.max(end);
    }

    /// What the radio does from the instant up to which it has been counted, and until when at the latest:
    /// its power in W, and what for.
    fn state(&self, radio: &Radio, path: &Path) -> (f64, usize, Time) {
        let now = radio.counted;
        let change = path.next_presence_change(now);
        if !path.is_present(now) {
            return (0.0, IDLE, change);
        }
        let (power_w, of, until) = if now < radio.transmits_until {
            (self.tx_w, radio.sends, radio.transmits_until)
        } else if now < radio.receives_until {
            (self.rx_w, radio.hears, radio.receives_until)
        } else if now < radio.busy_until {
            (self.busy_w, BUSY, radio.busy_until)
        } else {
            (self.idle_w, IDLE, Time::NEVER)
        };
        (power_w, of, until.min(change))
    }

    /// When the battery is empty if the radio goes on with this power.
    fn runs_out(&self, radio: &Radio, power_w: f64) -> Time {
        let lasts_s = self.left_j(radio) / power_w;
        if power_w > 0.0 && lasts_s < MAX_TIME_S {
            radio.counted + Span::from_secs(lasts_s)
        } else {
            Time::NEVER
        }
    }

    fn left_j(&self, radio: &Radio) -> f64 {
        self.battery_j.map_or(f64::INFINITY, |battery_j| battery_j - radio.spent_j.iter().sum::<f64>())
    }

    /// Goes on to the end of what the radio does, to `now` or until the battery is empty.
    fn step(&self, radio: &mut Radio, now: Time, path: &Path) {
        let (power_w, of, until) = self.state(radio, path);
        let (until, empty) = (until.min(now), self.runs_out(radio, power_w));
        if empty <= until && empty < Time::NEVER {
            radio.spent_j[of] += self.left_j(radio);
            radio.died = Some(empty);
        } else {
            radio.spent_j[of] += power_w * until.since(radio.counted).as_secs();
        }
        radio.counted = until.min(empty);
    }

    /// Counts what the node has spent up to now; its battery may be empty before.
    pub fn count(&mut self, now: Time, node: u32, path: &Path) {
        let mut radio = self.radios[node as usize];
        while radio.counted < now && radio.died.is_none() {
            self.step(&mut radio, now, path);
        }
        self.radios[node as usize] = radio;
    }

    /// When the node's battery is empty if nothing else happens to it; or, if it comes or goes before, when
    /// it does so: then this is to be asked again.
    pub fn look_at(&self, node: u32, path: &Path) -> Time {
        let mut radio = self.radios[node as usize];
        let change = path.next_presence_change(radio.counted);
        while radio.died.is_none() && radio.counted < change {
            self.step(&mut radio, change, path);
        }
        radio.counted
    }

    /// What all have spent, when the run ends and so much payload has been delivered.
    pub fn totals(mut self, end: Time, paths: &[Path], delivered_bytes: f64) -> EnergyTotals {
        for (node, path) in (0..).zip(paths) {
            self.count(end, node, path);
        }
        let spent = |of: usize| self.radios.iter().map(|radio| radio.spent_j[of]).sum::<f64>();
        let [data, routing, arp, mac, busy, idle] = [DATA, ROUTING, ARP, MAC, BUSY, IDLE].map(spent);
        let mut deaths: Vec<Time> = self.radios.iter().filter_map(|radio| radio.died).collect();
        deaths.sort_unstable();
        let death_s = |place: usize| deaths.get(place).map(|death| death.as_secs());
        let without_idle = data + routing + arp + mac;
        let all = without_idle + busy + idle;
        EnergyTotals {
            energy_j: all,
            energy_without_idle_j: without_idle,
            energy_data_j: data,
            energy_routing_j: routing,
            energy_arp_j: arp,
            energy_mac_j: mac,
            energy_busy_j: busy,
            energy_idle_j: idle,
            energy_per_delivered_kb_j: (delivered_bytes > 0.0).then(|| all / (delivered_bytes * 1e-3)),
            energy_dead_nodes: deaths.len() as u64,
            energy_first_death_s: death_s(0),
            energy_half_dead_s: death_s(self.radios.len().div_ceil(2).saturating_sub(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mobility::{Presence, Trajectory};
    use crate::wire::NodeId;
    use crate::wire::mac::Rate;

    fn secs(seconds: f64) -> Time {
        Time::from_secs(seconds)
    }

    /// ns-3's radio.
    fn spec(battery_j: Option<f64>) -> EnergySpec {
        EnergySpec { voltage_v: 3.0, tx_a: 0.38, rx_a: 0.313, busy_a: 0.273, idle_a: 0.273, battery_j }
    }

    fn frame(kind: FrameKind, class: Class, airtime_s: f64) -> Frame {
        Frame {
            kind,
            from: NodeId(0),
            to: NodeId(1),
            reserves: Span::ZERO,
            rate: Rate::default(),
            airtime: Span::from_secs(airtime_s),
            bytes: 100,
            sequence: 0,
            class,
            body: None,
        }
    }

    #[test]
    fn ten_joules_of_idling_last_12_21_s() {
        let (energy, path) = (Energy::new(&spec(Some(10.0)), 1), Path::new(&Trajectory::fixed(0.0, 0.0)));
        assert!((energy.look_at(0, &path).as_secs() - 12.21).abs() < 0.001);
    }

    #[test]
    fn each_state_takes_its_power_and_frames_are_their_layers() {
        let (mut energy, path) = (Energy::new(&spec(None), 2), Path::new(&Trajectory::fixed(0.0, 0.0)));
        let paths = [path.clone(), path.clone()];
        energy.transmit(secs(1.0), 0, &frame(FrameKind::Data, Class::Data, 0.5), &path);
        energy.hear(secs(1.0), 1, &frame(FrameKind::Data, Class::Data, 0.5), true, &path);
        // A second frame finds it receiving; a weak one keeps it busy.
        energy.hear(secs(1.4), 1, &frame(FrameKind::Rts, Class::Data, 0.4), true, &path);
        energy.hear(secs(3.0), 1, &frame(FrameKind::Data, Class::Routing, 0.2), false, &path);
        energy.hear(secs(4.0), 1, &frame(FrameKind::Ack, Class::Data, 0.1), true, &path);
        let totals = energy.totals(secs(10.0), &paths, 2000.0);
        let close = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-9, "{found}, {wanted}");
        close(totals.energy_data_j, 0.5 * 3.0 * 0.38 + 0.5 * 3.0 * 0.313);
        close(totals.energy_mac_j, 0.1 * 3.0 * 0.313);
        close(totals.energy_busy_j, (0.3 + 0.2) * 3.0 * 0.273);
        close(totals.energy_idle_j, (9.5 + 10.0 - 0.5 - 0.3 - 0.2 - 0.1) * 3.0 * 0.273);
        close(totals.energy_j, totals.energy_without_idle_j + totals.energy_busy_j + totals.energy_idle_j);
        close(totals.energy_per_delivered_kb_j.expect("delivered"), totals.energy_j / 2.0);
        assert_eq!((totals.energy_dead_nodes, totals.energy_first_death_s), (0, None));
    }

    #[test]
    fn an_absent_node_spends_nothing_and_a_battery_is_empty_to_the_nanosecond() {
        let mut node = Trajectory::fixed(0.0, 0.0);
        node.present = vec![
            Presence { from: secs(5.0), until: secs(9.0) },
            Presence { from: secs(20.0), until: Time::NEVER },
        ];
        let (mut energy, path) = (Energy::new(&spec(Some(10.0)), 1), Path::new(&node));
        // Nothing can be said beyond the next time it comes or goes.
        let asked = |energy: &mut Energy, now| {
            energy.count(now, 0, &path);
            energy.look_at(0, &path)
        };
        assert_eq!([0.0, 5.0, 9.0].map(|at_s| asked(&mut energy, secs(at_s))), [5.0, 9.0, 20.0].map(secs));
        let mut busier = energy.clone();
        let empty_s = 20.0 + (10.0 / 0.819 - 4.0);
        let at = asked(&mut energy, secs(20.0));
        assert!((at.as_secs() - empty_s).abs() < 2e-9, "{at:?}");
        // A second of transmission takes more.
        busier.transmit(secs(21.0), 0, &frame(FrameKind::Data, Class::Data, 1.0), &path);
        let sooner_s = empty_s - (1.14 - 0.819) / 0.819;
        let at = busier.look_at(0, &path);
        assert!((at.as_secs() - sooner_s).abs() < 2e-9, "{at:?}");
        // However late it is looked at, it was empty then, and no more was spent than there was.
        assert!(!busier.is_dead(0, secs(50.0)));
        busier.count(secs(50.0), 0, &path);
        assert_eq!([secs(sooner_s - 1e-6), at].map(|time| busier.is_dead(0, time)), [false, true]);
        let totals = busier.totals(secs(100.0), std::slice::from_ref(&path), 0.0);
        assert!((totals.energy_j - 10.0).abs() < 1e-12);
        assert_eq!(totals.energy_dead_nodes, 1);
        assert!((totals.energy_first_death_s.expect("dead") - sooner_s).abs() < 1e-6);
    }
}
