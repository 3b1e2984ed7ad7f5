//! What a movement says that ns-2's form of it cannot: names, heights, when nodes are there, and when they
//! forget.

use manetlab_core::kernel::Time;
use manetlab_core::mobility::{Height, Presence, Trajectory};
use serde::{Deserialize, Serialize};

/// The same of one node; times are in ns.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Beside {
    label: Option<String>,
    heights: Vec<(u64, f64)>,
    present: Vec<(u64, u64)>,
    crashes: Vec<u64>,
}

impl Beside {
    /// What a node's movement says beside its places.
    pub(crate) fn of(node: &Trajectory) -> Beside {
        Beside {
            label: node.label.clone(),
            heights: node.heights.iter().map(|height| (height.at.0, height.z_m)).collect(),
            present: node.present.iter().map(|stay| (stay.from.0, stay.until.0)).collect(),
            crashes: node.crashes.iter().map(|time| time.0).collect(),
        }
    }

    /// Adds it to a node's movement.
    pub(crate) fn add_to(self, node: &mut Trajectory) {
        node.label = self.label;
        node.heights = self.heights.into_iter().map(|(at, z_m)| Height { at: Time(at), z_m }).collect();
        let presence = |(from, until)| Presence { from: Time(from), until: Time(until) };
        node.present = self.present.into_iter().map(presence).collect();
        node.crashes = self.crashes.into_iter().map(Time).collect();
    }
}
