//! Why a segment was lost, as an end guesses it.
//!
//! *Sources:* Biaz and Vaidya, *Sender-based heuristics for distinguishing congestion losses from wireless
//! transmission losses*, Texas A&M University, TR 98-013, 1998 (`rounds.rs`); Biaz and Vaidya,
//! *Discriminating congestion losses from wireless losses using inter-arrival times at the receiver*, IEEE
//! ASSET, 1999 (`arrivals.rs`); Liu and Jain, *Using congestion coherence to enhance TCP over wireless
//! links*, 2001 (`coherence.rs`, `rounds.rs`). We could read none of them: formulas and thresholds are from
//! memory, so the thresholds are parameters.
//!
//! | `tcp.loss_predictor` | who guesses, and when | the radio is blamed unless |
//! |---|---|---|
//! | `vegas` | the sender, at a fast retransmit | segments wait in queues |
//! | `ndg` | the sender | delay grows with the window |
//! | `ntg` | the sender | throughput does not grow with the window |
//! | `arrivals` | the receiver, at a gap | the gap is longer or shorter than the lost segments would have filled |
//! | `coherence-receiver` | the receiver, at the third duplicate ACK | a segment next to the lost one is marked |
//! | `coherence-sender` | the sender, at a fast retransmit | the last window brought an echo of a mark |
//!
//! *Implemented:* a loss that the radio is blamed for is repaired as any loss is, and the window stays as it
//! is ([`super::route_failure::Verdict::Spared`], as with ELN). A timeout means congestion. A receiver that
//! goes by coherence tells nobody: it holds duplicate ACKs back while the link layer repairs the loss, and a
//! sender that gets them all the same reduces its window.
//!
//! *Not implemented:* a guess at each loss of a window that NewReno's or SACK's recovery repairs; the guess
//! at the first holds for all.
//!
//! *Deviations:* 45 to 49 in docs/models/tcp.md.

mod arrivals;
mod coherence;
mod rounds;

pub(super) use arrivals::Arrivals;
pub(super) use coherence::Coherence;
pub(super) use rounds::Rounds;
