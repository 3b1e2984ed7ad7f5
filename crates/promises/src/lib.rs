//! What each routing protocol promises, tried on many random topologies.
//!
//! The network here is the plainest that keeps the contract of [`manetlab_core::routing`]: links are up or
//! down, every packet takes 2 ms, nothing collides and nothing is lost ([`network`]). On each random topology
//! ([`graph`]) a protocol goes through the same story ([`story`]): it settles, a link breaks and heals, the
//! network parts and merges, a node starts anew, and at last every link is gone and all is to be forgotten.
//! What a parameter set does not promise by its own specification is stated with the reason ([`terms`]), and
//! everything else must hold on every topology. [`page`] writes the table.
//!
//! The same network shows what OLSR knows ([`sets`]) and how soon pings arrive ([`pings`]), to be compared
//! with other implementations.

pub mod bytes;
pub mod graph;
pub mod network;
pub mod page;
pub mod pings;
pub mod promise;
pub mod sets;
pub mod story;
pub mod subject;
pub mod terms;
