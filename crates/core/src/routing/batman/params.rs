//! The parameters of B.A.T.M.A.N. IV.

use crate::kernel::Span;
use crate::params::{choices, params};
use crate::wire::batman::Form;

choices! {
    /// Which implementation's packets nodes send.
    pub enum Layer {
        /// Below IP, as batman-adv: messages without IP header, data with a header of 24 bytes.
        Link = "link",
        /// IP, as batmand: messages in UDP, plain data.
        Ip = "ip",
    }
}

params! {
    /// The parameters of B.A.T.M.A.N. IV.
    pub struct BatmanParams in "batman" {
        /// Time between a node's originator messages (OGMs).
        ogm_interval_s: f64 = 1.0, "s", "batman-adv 2024, bat_iv_ogm.c", [0.05, 600.0];
        /// Each interval is off by a time uniform up to this, in either direction.
        ogm_jitter_ms: f64 = 20.0, "ms", "batman-adv 2024, bat_iv_ogm.c", [0.0, 1e5];
        /// Another node's OGM waits a time uniform below this before it is passed on.
        forward_jitter_ms: f64 = 10.0, "ms", "batman-adv 2024, bat_iv_ogm.c", [0.0, 1e5];
        /// How much longer it waits if nothing else waits, so that more can go with it; 0: OGMs go alone.
        aggregation_ms: f64 = 100.0, "ms", "batman-adv 2024, bat_iv_ogm.c", [0.0, 1e5];
        /// Bytes of OGMs that go together at most.
        aggregate_bytes: u32 = 512, "B", "batman-adv 2024, main.h", [1.0, 65_535.0];
        /// OGMs that go together at most.
        aggregate_ogms: u32 = 32, "", "batman-adv 2024, bat_iv_ogm.c", [1.0, 1000.0];
        /// By how many 255ths quality falls at each node that passes an OGM on.
        hop_penalty: u32 = 30, "", "batman-adv 2024, bat_iv_ogm.c", [0.0, 255.0];
        /// Let it fall once more at a node that passes it on over the radio from which it came.
        half_duplex: bool = true, "", "batman-adv 2024, bat_iv_ogm.c";
        /// Hops that an OGM may go.
        ttl: u32 = 50, "hop", "batman-adv 2024, main.h", [2.0, 255.0];
        /// Qualities of which the mean counts.
        tq_window: u32 = 5, "", "batman-adv 2024, main.h", [1.0, 64.0];
        /// After how long a node that is not heard of is forgotten, with its route.
        purge_s: f64 = 200.0, "s", "batman-adv 2024, main.h", [1.0, 1e5];
        /// How long after a jump of an originator's numbers another one is not believed.
        reset_protection_s: f64 = 30.0, "s", "batman-adv 2024, main.h", [0.0, 1e5];
        /// Bytes of TVLVs in each OGM of batman-adv: what it tells of other services.
        tvlv_bytes: u32 = 28, "B", "batman-adv 2024", [0.0, 400.0];
        /// Which implementation's packets nodes send.
        layer: Layer = Layer::Link, "", "batman-adv 2024";
    }
}

impl BatmanParams {
    /// The names of the parameter sets that [`BatmanParams::set`] knows.
    pub const SETS: &'static [&'static str] = &["batman-adv", "batmand"];

    /// The parameter set of this name.
    pub fn set(name: &str) -> Option<BatmanParams> {
        match name {
            "batman-adv" => Some(BatmanParams::default()),
            "batmand" => Some(BatmanParams::batmand()),
            _ => None,
        }
    }

    /// batmand 0.3: the daemon, which routes at the layer of IP.
    pub fn batmand() -> BatmanParams {
        BatmanParams {
            ogm_jitter_ms: 100.0,
            // Measured of batmand 0.3.2: it passes messages on after 60 to 170 ms, 120 ms on average. Without
            // a difference the neighbours of a node would always do so in the same instant, and collide.
            forward_jitter_ms: 60.0,
            aggregation_ms: 90.0,
            hop_penalty: 10,
            half_duplex: false,
            layer: Layer::Ip,
            ..BatmanParams::default()
        }
    }

    pub(super) fn form(&self) -> Form {
        match self.layer {
            Layer::Link => Form::Adv { tvlv_bytes: self.tvlv_bytes as u16 },
            Layer::Ip => Form::Daemon,
        }
    }

    /// How far one number is ahead of another; they go around.
    pub(super) fn ahead(&self, seqno: u32, of: u32) -> i64 {
        let ahead = seqno.wrapping_sub(of);
        match self.layer {
            Layer::Link => i64::from(ahead as i32),
            Layer::Ip => i64::from(ahead as i16),
        }
    }

    /// A quality after a penalty.
    pub(super) fn penalised(&self, tq: u8) -> u8 {
        (u32::from(tq) * (255 - self.hop_penalty) / 255) as u8
    }

    pub(super) fn purge(&self) -> Span {
        Span::from_secs(self.purge_s)
    }
}
