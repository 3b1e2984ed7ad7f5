# One transfer of 120 segments over a link of 44 ms, some packets of which are dropped, in ns-2.35.
#   ns traces.tcl AGENT SINK "LOST" "MARKED"    which packets, as they are counted on the link, from zero
# With marks both ends support ECN. Marks come before losses, so that both are counted alike.
# Output: the agent's trace of its window and the link's trace.
lassign $argv agent_name sink_name lost marked
set ns [new Simulator]
set a [$ns node]
set b [$ns node]
# Three round trips are not a whole timeout of 27 ticks: what happens first at the same instant is not TCP's affair.
# Fast enough that no segment takes a millisecond.
$ns duplex-link $a $b 1000Gb 44ms DropTail
$ns queue-limit $a $b 1000
set agent [new Agent/$agent_name]
$agent set window_ 16
$agent set ecn_ [expr {$marked ne ""}]
$ns attach-agent $a $agent
set sink [new Agent/$sink_name]
$ns attach-agent $b $sink
$ns connect $agent $sink
foreach {packets mark} [list $lost false $marked true] {
    if {$packets eq ""} continue
    set model [new ErrorModel/List]
    $model set markecn_ $mark
    $model droplist $packets
    $model drop-target [new Agent/Null]
    $ns lossmodel $model $a $b
}
set trace [open /dev/stdout w]
$agent attach $trace
$agent trace cwnd_
$ns trace-queue $a $b $trace
set application [new Application/FTP]
$application attach-agent $agent
$ns at 0.0 "$application produce 120"
$ns at 60.0 "flush $trace; exit 0"
$ns run
