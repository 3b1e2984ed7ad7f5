//! How ns-2's Vegas repairs losses: a segment goes again at the third duplicate ACK or as soon as it is
//! overdue, and the window shrinks by a quarter, or by half if the segment had been sent again before.

use super::{CWND_MIN, DUPACKS, Slot, VegasNs2};
use crate::kernel::Time;
use crate::transport::tcp::congestion::{Duplicate, OwnRecovery, Repair, Window};

impl OwnRecovery for VegasNs2 {
    fn judge_duplicate(&mut self, window: &mut Window, seen: Duplicate) -> Repair {
        let now_s = self.seconds(seen.now);
        self.hear_first(now_s);
        if seen.dupacks != DUPACKS && !self.is_expired(seen.una, seen.now) {
            window.cwnd += f64::from(u8::from(seen.dupacks > DUPACKS));
            return Repair::Nothing;
        }
        if self.has_timed_out && !seen.is_beyond_recover {
            return Repair::Nothing;
        }
        self.has_timed_out = false;
        self.worried = seen.under_way.min(2);
        let Slot { sent, times } = self.table[self.slot(seen.una)];
        self.timeout_s *= if times > 1 { 2.0 } else { 1.125 };
        // Once for each window: not if the window has changed since the segment was sent.
        if sent.is_some_and(|sent| self.changed_s < self.seconds(sent)) {
            let whole = window.cwnd.min(seen.limit).floor();
            self.deflated = match times {
                _ if whole <= 3.0 => CWND_MIN,
                0 | 1 => whole - (whole / 4.0).floor(),
                _ => (whole / 2.0).floor(),
            };
            window.cwnd = self.deflated + f64::from(seen.dupacks);
            self.changed_s = now_s;
        }
        Repair::First { counts_as_third: times == 1 }
    }

    fn repairs_after_ack(&mut self, una: u32, now: Time) -> bool {
        if self.worried == 0 {
            return false;
        }
        let expired = self.is_expired(una, now);
        self.worried = if expired { self.worried - 1 } else { 0 };
        expired
    }
}
