//! ATCP, ad hoc TCP (Liu and Singh, *ATCP: TCP for mobile ad hoc networks*, IEEE JSAC 19(7), 2001): a layer
//! below TCP that decides which signs of trouble TCP sees (Fig. 3).
//!
//! | state | meanwhile | left by |
//! |---|---|---|
//! | normal | TCP | duplicate ACKs or a timeout → loss; ECN-Echo → congested; route failure → disconnected |
//! | loss | the first segment is sent again, TCP sends nothing new and closes nothing | new data acknowledged → normal; ECN-Echo → congested; route failure → disconnected |
//! | congested | TCP answers the mark, and losses as any TCP would | new data sent → normal; route failure → disconnected |
//! | disconnected | probes, ever rarer | any ACK → normal, with a window of one |
//!
//! *Implemented:* the four states; probes that begin at the RTO and double up to `atcp_probe_interval_max_s`.
//!
//! *Not implemented*, *deviations:* 17, 18, 28 and 29 in docs/models/tcp.md.

use super::{Loss, RouteFailure, Step, Verdict, View};
use crate::kernel::Span;
use crate::transport::tcp::TcpParams;
use crate::wire::tcp::AckSigns;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Normal,
    /// A mark of congestion has come: TCP deals with it alone, and with losses, until it sends new data.
    Congested,
    /// A loss by the channel: TCP persists until new data is acknowledged.
    Loss,
    /// The route is gone: the sender is frozen. `interval`: between the last probe and the next.
    Disconnected {
        interval: Span,
    },
}

pub(super) struct Atcp {
    state: State,
    longest_interval: Span,
}

impl Atcp {
    pub(super) fn new(params: &TcpParams) -> Atcp {
        let longest_interval = Span::from_secs(params.atcp_probe_interval_max_s);
        Atcp { state: State::Normal, longest_interval }
    }
}

impl RouteFailure for Atcp {
    fn heeds_notices(&self) -> bool {
        true
    }

    fn handle_route_failed(&mut self, view: &mut View<'_>) -> Step {
        let interval = view.rto.value();
        self.state = State::Disconnected { interval };
        Step::Freeze { wake: interval }
    }

    fn handle_wake(&mut self, _: &mut View<'_>) -> Step {
        let State::Disconnected { interval } = &mut self.state else { return Step::Nothing };
        *interval = (*interval * 2).min(self.longest_interval);
        Step::Probe { wake: *interval }
    }

    fn handle_ack(&mut self, signs: &AckSigns, view: &mut View<'_>) -> Step {
        if view.frozen.is_some() {
            self.state = State::Normal;
            // The new route's capacity is not known.
            view.window.cwnd = 1.0;
        }
        if signs.ece {
            self.state = State::Congested;
        }
        view.thaw()
    }

    fn judge_loss(&mut self, _: Loss, _: &mut View<'_>) -> Verdict {
        if self.state == State::Congested {
            return Verdict::Congestion;
        }
        self.state = State::Loss;
        Verdict::Accident
    }

    fn handle_progress(&mut self) {
        if self.state == State::Loss {
            self.state = State::Normal;
        }
    }

    fn handle_new_data(&mut self) {
        if self.state == State::Congested {
            self.state = State::Normal;
        }
    }

    fn holds_back(&self) -> bool {
        self.state == State::Loss
    }

    #[cfg(test)]
    fn state(&self) -> &'static str {
        match self.state {
            State::Normal => "normal",
            State::Congested => "congested",
            State::Loss => "loss",
            State::Disconnected { .. } => "disconnected",
        }
    }
}
