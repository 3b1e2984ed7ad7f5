# Runs an ns-2.35 wireless scenario from a movement file and a traffic file of cbrgen.tcl and prints what TCP did.
#   ns run.tcl movement=FILE traffic=FILE nodes=50 side=1000 stop=300 seed=1 [routing=AODV] [tcp=TCP/Reno]
#              [sink=TCPSink] [rts=0] [trace=FILE]
# rts is the packet size in bytes above which RTS is used. The trace has what agents and routing did.
array set given {routing AODV tcp TCP/Reno sink TCPSink rts 0 trace /dev/null}
foreach argument $argv {
    regexp {^([a-z]+)=(.*)$} $argument whole key value
    set given($key) $value
}

# As the profile ns-2.35: data at 2 Mb/s, all else at 1 Mb/s.
Mac/802_11 set RTSThreshold_ $given(rts)
Mac/802_11 set dataRate_ 2Mb
Mac/802_11 set basicRate_ 1Mb
Mac/802_11 set PLCPDataRate_ 1Mb

set ns_ [new Simulator]
ns-random $given(seed)
set trace [open $given(trace) w]
$ns_ trace-all $trace
set topo [new Topography]
$topo load_flatgrid [expr {$given(side) + 1}] [expr {$given(side) + 1}]
set god_ [create-god $given(nodes)]
# ns-2's DSR runs with no other queue.
$ns_ node-config -adhocRouting $given(routing) -llType LL -macType Mac/802_11 \
    -ifqType [expr {$given(routing) == "DSR" ? "CMUPriQueue" : "Queue/DropTail/PriQueue"}] -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $topo \
    -agentTrace ON -routerTrace ON -macTrace OFF -movementTrace OFF
for {set i 0} {$i < $given(nodes)} {incr i} {
    set node_($i) [$ns_ node]
    $node_($i) random-motion 0
}
source $given(movement)

# The traffic file names no variant of TCP: the sender and the receiver are those asked for.
set senders {}
Simulator instproc create-connection {source_type source sink_type sink packet_class} {
    global given senders
    if {$source_type == "TCP"} {
        set source_type $given(tcp)
        set sink_type $given(sink)
    }
    set source_agent [new Agent/$source_type]
    set sink_agent [new Agent/$sink_type]
    if {$source_type == $given(tcp)} { lappend senders $source_agent }
    $source_agent set fid_ $packet_class
    $self attach-agent $source $source_agent
    $self attach-agent $sink $sink_agent
    $self connect $source_agent $sink_agent
    return $source_agent
}
source $given(traffic)

proc finish {} {
    global ns_ trace senders
    $ns_ flush-trace
    close $trace
    foreach sender $senders {
        puts "TCP [expr {[$sender set ack_] + 1}] [$sender set nrexmitpack_]"
    }
    exit 0
}
$ns_ at $given(stop) finish
$ns_ run
