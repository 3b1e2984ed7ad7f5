//! Video at a constant frame rate and a variable bit rate: a repeated group of pictures with log-normal
//! sizes.
//!
//! Source: T. D. Dyer, dissertation (2002), §5.2.2, Fig. 5.5 and Table 5.7. *Deviations*: 2 to 4 in
//! docs/models/traffic.md.

use super::draws::log_normal;
use super::{FrameKind, Message, Source};
use crate::kernel::{Span, Stream, Time};
use crate::params::params;

params! {
    /// The frames of video flows.
    pub struct VideoParams in "video" {
        /// Frames per second.
        frames_per_s: f64 = 15.0, "1/s", "Dyer 2002 §5.2.2", [0.01, 1000.0];
        /// Frames in a group of pictures, of which the first is the I frame.
        gop_frames: u32 = 15, "frame", "Dyer 2002 Fig. 5.5", [1.0, 1000.0];
        /// B frames between two frames of the other types.
        b_frames: u32 = 2, "frame", "Dyer 2002 Fig. 5.5", [0.0, 100.0];
        /// Does each flow begin at a random position within a group, so that the I frames of flows do not
        /// coincide?
        random_phase: bool = true, "", "not in the text of Dyer 2002";
        /// Mean length of an I frame.
        i_mean_bytes: f64 = 5900.9, "byte", "Dyer 2002 Table 5.7", [1.0, 65_507.0];
        /// Standard deviation of the length of an I frame.
        i_sd_bytes: f64 = 1201.8, "byte", "Dyer 2002 Table 5.7", [0.0, 65_507.0];
        /// Mean length of a P frame.
        p_mean_bytes: f64 = 1605.8, "byte", "Dyer 2002 Table 5.7", [1.0, 65_507.0];
        /// Standard deviation of the length of a P frame.
        p_sd_bytes: f64 = 1048.9, "byte", "Dyer 2002 Table 5.7", [0.0, 65_507.0];
        /// Mean length of a B frame.
        b_mean_bytes: f64 = 584.2, "byte", "Dyer 2002 Table 5.7", [1.0, 65_507.0];
        /// Standard deviation of the length of a B frame.
        b_sd_bytes: f64 = 159.1, "byte", "Dyer 2002 Table 5.7", [0.0, 65_507.0];
        /// Maximum payload of the packets into which a frame is split over UDP and ADP; zero: one packet per
        /// frame.
        packet_bytes: u32 = 0, "byte", "Dyer 2002 §5.2.2: 15 packets a second", [0.0, 65_507.0];
        /// A frame that arrives later than this after it was made is late and cannot be played; zero: no
        /// deadline.
        playout_deadline_s: f64 = 0.0, "s", "Dyer 2002 ch. 3: 5 s", [0.0, 1e6];
    }
}

/// The longest frame: what fits into one UDP datagram (RFC 768).
const MAX_FRAME_BYTES: f64 = 65_507.0;

/// A source of frames.
pub struct VideoSource {
    params: VideoParams,
    interval: Span,
    /// The next frame's place in its group.
    place: u32,
    stop: Time,
    next: Time,
    stream: Stream,
}

impl VideoSource {
    /// A source whose first frame comes at `start` and that makes none at or after `stop`.
    pub fn new(start: Time, stop: Time, params: &VideoParams, mut stream: Stream) -> VideoSource {
        let place = if params.random_phase { stream.below(params.gop_frames) } else { 0 };
        let interval = Span::from_secs(1.0 / params.frames_per_s);
        VideoSource { params: params.clone(), interval, place, stop, next: start, stream }
    }
}

/// What a frame at this place of its group is: I, then B frames between P frames.
fn kind_at(place: u32, b_frames: u32) -> FrameKind {
    match place {
        0 => FrameKind::I,
        _ if place.is_multiple_of(b_frames + 1) => FrameKind::P,
        _ => FrameKind::B,
    }
}

impl Source for VideoSource {
    fn next_timeout(&self) -> Time {
        if self.next < self.stop { self.next } else { Time::NEVER }
    }

    fn handle_timeout(&mut self) -> Message {
        let params = &self.params;
        let kind = kind_at(self.place, params.b_frames);
        let (mean, deviation) = match kind {
            FrameKind::I => (params.i_mean_bytes, params.i_sd_bytes),
            FrameKind::P => (params.p_mean_bytes, params.p_sd_bytes),
            FrameKind::B => (params.b_mean_bytes, params.b_sd_bytes),
        };
        let bytes = log_normal(&mut self.stream, mean, deviation).round().clamp(1.0, MAX_FRAME_BYTES);
        self.place = (self.place + 1) % params.gop_frames;
        self.next += self.interval;
        Message { bytes: bytes as u32, frame: Some(kind) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Purpose, Streams};

    fn frames(params: &VideoParams, count: usize) -> Vec<(FrameKind, f64)> {
        let stream = Streams::new(2, 0).stream(0, Purpose::Traffic);
        let mut source = VideoSource::new(Time::ZERO, Time::NEVER, params, stream);
        (0..count)
            .map(|_| source.handle_timeout())
            .map(|message| (message.frame.expect("a frame"), f64::from(message.bytes)))
            .collect()
    }

    #[test]
    fn a_group_is_that_of_figure_5_5() {
        let params = VideoParams { random_phase: false, ..VideoParams::default() };
        let pattern: String = frames(&params, 16).iter().map(|(kind, _)| format!("{kind:?}")).collect();
        assert_eq!(pattern, "IBBPBBPBBPBBPBBI");
    }

    #[test]
    fn flows_begin_at_drawn_places_of_the_group() {
        let first_i = |flow| {
            let stream = Streams::new(2, 0).stream(flow, Purpose::Traffic);
            let mut source = VideoSource::new(Time::ZERO, Time::NEVER, &VideoParams::default(), stream);
            (0..15).position(|_| source.handle_timeout().frame == Some(FrameKind::I))
        };
        let places: std::collections::BTreeSet<_> = (0..60).map(first_i).collect();
        assert!(places.len() > 10 && !places.contains(&None), "{places:?}");
    }

    /// Means and deviations of Table 5.7, each within three standard errors of its estimate.
    #[test]
    fn sizes_have_the_moments_of_table_5_7() {
        let frames = frames(&VideoParams::default(), 150_000);
        let stated =
            [(FrameKind::I, 5900.9, 1201.8), (FrameKind::P, 1605.8, 1048.9), (FrameKind::B, 584.2, 159.1)];
        for (kind, mean, deviation) in stated {
            let sizes: Vec<f64> =
                frames.iter().filter(|frame| frame.0 == kind).map(|frame| frame.1).collect();
            let n = sizes.len() as f64;
            let found = sizes.iter().sum::<f64>() / n;
            assert!((found - mean).abs() < 3.0 * deviation / n.sqrt(), "{kind:?}: mean {found}");
            let square: f64 = sizes.iter().map(|size| libm::pow(size - found, 2.0)).sum();
            let fourth: f64 = sizes.iter().map(|size| libm::pow(size - found, 4.0)).sum::<f64>() / n;
            let variance = square / (n - 1.0);
            let error = ((fourth - variance * variance) / n).sqrt() / (2.0 * variance.sqrt());
            assert!((variance.sqrt() - deviation).abs() < 3.0 * error, "{kind:?}: {}", variance.sqrt());
        }
    }

    /// 1 I, 4 P and 10 B frames of 15, and 15 frames a second: 145.3 kb/s.
    #[test]
    fn the_load_is_that_of_the_text() {
        let frames = frames(&VideoParams::default(), 150_000);
        let count = |kind| frames.iter().filter(|frame| frame.0 == kind).count();
        assert_eq!(
            (count(FrameKind::I), count(FrameKind::P), count(FrameKind::B)),
            (10_000, 40_000, 100_000)
        );
        let rate_bps = frames.iter().map(|frame| frame.1).sum::<f64>() / 150_000.0 * 15.0 * 8.0;
        assert!((rate_bps - 145_300.0).abs() < 1_000.0, "{rate_bps} bit/s");
    }

    #[test]
    fn no_frame_is_made_at_the_instant_at_which_the_source_stops() {
        let params = VideoParams { frames_per_s: 10.0, ..VideoParams::default() };
        let stream = Streams::new(2, 0).stream(0, Purpose::Traffic);
        let mut source = VideoSource::new(Time::from_secs(1.0), Time::from_secs(1.5), &params, stream);
        let mut times = Vec::new();
        while source.next_timeout() != Time::NEVER {
            times.push(source.next_timeout().0 / 1_000_000);
            source.handle_timeout();
        }
        assert_eq!(times, [1000, 1100, 1200, 1300, 1400], "in ms");
    }

    #[test]
    fn every_size_fits_a_datagram() {
        let params = VideoParams { i_mean_bytes: 60_000.0, i_sd_bytes: 30_000.0, ..VideoParams::default() };
        assert!(frames(&params, 3000).iter().all(|(_, bytes)| (1.0..=65_507.0).contains(bytes)));
    }
}
