# Runs an ns-2.35 wireless scenario from a movement file and a traffic file of cbrgen.tcl.
#   ns ns2.tcl MOVEMENT TRAFFIC NODES STOP SEED [SIDE] [ROUTING] [TRACES] [FILE]
# SIDE is that of the square field, in m; 1001 if not given. ROUTING is AODV if not given. With TRACES ON it writes to
# FILE, or to nowhere if that is not given, what agents and routing did, from which its figures are computed; OFF if not
# given.
lassign $argv movement traffic nodes stop seed side routing traces file
if {$side == ""} { set side 1001 }
if {$routing == ""} { set routing AODV }
if {$traces == ""} { set traces OFF }
if {$file == ""} { set file /dev/null }
# Its DSR runs with no other queue.
set queue [expr {$routing == "DSR" ? "CMUPriQueue" : "Queue/DropTail/PriQueue"}]

# As the profile ns-2.35: RTS for every unicast frame, data at 2 Mb/s, all else at 1 Mb/s.
Mac/802_11 set RTSThreshold_ 0
Mac/802_11 set dataRate_ 2Mb
Mac/802_11 set basicRate_ 1Mb
Mac/802_11 set PLCPDataRate_ 1Mb

set ns_ [new Simulator]
ns-random $seed
set written [open $file w]
$ns_ trace-all $written
set topo [new Topography]
$topo load_flatgrid $side $side
set god_ [create-god $nodes]
$ns_ node-config -adhocRouting $routing -llType LL -macType Mac/802_11 \
    -ifqType $queue -ifqLen 50 -antType Antenna/OmniAntenna \
    -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $topo \
    -agentTrace $traces -routerTrace $traces -macTrace OFF -movementTrace OFF
for {set i 0} {$i < $nodes} {incr i} {
    set node_($i) [$ns_ node]
    $node_($i) random-motion 0
}
source $movement

# cbrgen.tcl makes agents of type TCP, which is Tahoe here; the comparison is with Reno.
Simulator instproc create-connection {source_type source sink_type sink packet_class} {
    if {$source_type == "TCP"} { set source_type TCP/Reno }
    set source_agent [new Agent/$source_type]
    set sink_agent [new Agent/$sink_type]
    $source_agent set fid_ $packet_class
    $self attach-agent $source $source_agent
    $self attach-agent $sink $sink_agent
    $self connect $source_agent $sink_agent
    return $source_agent
}
source $traffic

$ns_ at $stop "exit 0"
$ns_ run
