//! The route cache, in either form (RFC 4728 §4.1).

use crate::kernel::{Span, Time};
use crate::routing::{Changes, RouteNow};
use crate::wire::NodeId;
use crate::wire::dsr::Route;

use super::link_cache::LinkCache;
use super::path_cache::PathCache;
use super::{CacheKind, DsrParams};

/// See the module's head.
#[derive(Debug)]
pub(super) enum Cache {
    Paths(PathCache),
    Links(LinkCache),
}

impl Cache {
    pub(super) fn new(node: NodeId, params: &DsrParams) -> Cache {
        let timeout = (params.cache_timeout_s > 0.0).then(|| Span::from_secs(params.cache_timeout_s));
        match params.cache {
            CacheKind::Path => {
                let paths = PathCache::new(params.primary_paths, params.secondary_paths, timeout);
                Cache::Paths(paths.filling_gaps(params.cache_gaps_first))
            }
            CacheKind::Link => Cache::Links(LinkCache::new(node, timeout)),
        }
    }

    /// A path from this node that it asked for or knows to be good.
    pub(super) fn add(&mut self, now: Time, path: &[NodeId]) {
        match self {
            Cache::Paths(paths) => paths.add(now, path),
            Cache::Links(links) => links.add(now, path),
        }
    }

    /// A path from this node that it overheard.
    pub(super) fn notice(&mut self, now: Time, path: &[NodeId]) {
        match self {
            Cache::Paths(paths) => paths.notice(now, path),
            Cache::Links(links) => links.add(now, path),
        }
    }

    /// The path to `dst`, this node first; `for_use` if it will carry this node's own packets.
    pub(super) fn find(&mut self, now: Time, dst: NodeId, for_use: bool) -> Option<&[NodeId]> {
        match self {
            Cache::Paths(paths) => paths.find(now, dst, for_use),
            Cache::Links(links) => links.find(now, dst),
        }
    }

    /// At most `count` different paths to `dst`, the shortest first. A map of links gives paths that share no
    /// link.
    pub(super) fn alternatives(&self, now: Time, dst: NodeId, count: usize) -> Vec<Route> {
        match self {
            Cache::Paths(paths) => paths.alternatives(now, dst, count),
            Cache::Links(links) => links.alternatives(now, dst, count),
        }
    }

    /// The path that [`Cache::find`] would give, as a route from this node.
    pub(super) fn route(&self, now: Time, dst: NodeId) -> Option<RouteNow> {
        match self {
            Cache::Paths(paths) => paths.route(now, dst),
            Cache::Links(links) => links.route(now, dst),
        }
    }

    /// The destinations to which the path may be another than when this was asked last.
    pub(super) fn take_changes(&mut self) -> Changes {
        match self {
            Cache::Paths(paths) => paths.take_changes(),
            Cache::Links(links) => links.take_changes(),
        }
    }

    /// The link failed.
    pub(super) fn remove_link(&mut self, from: NodeId, to: NodeId) {
        match self {
            Cache::Paths(paths) => paths.remove_link(from, to),
            Cache::Links(links) => links.remove_link(from, to),
        }
    }
}
