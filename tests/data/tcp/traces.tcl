# One transfer of 120 segments over a link of 44 ms, some packets of which are dropped, in ns-2.35.
#   ns traces.tcl AGENT SINK "PACKETS"     PACKETS: which ones are lost, as they are counted on the link, from zero
# Output: the agent's trace of its window and the link's trace.
lassign $argv agent_name sink_name lost
set ns [new Simulator]
set a [$ns node]
set b [$ns node]
# Three round trips are not a whole timeout of 27 ticks: what happens first at the same instant is not TCP's affair.
# Fast enough that no segment takes a millisecond.
$ns duplex-link $a $b 1000Gb 44ms DropTail
$ns queue-limit $a $b 1000
set agent [new Agent/$agent_name]
$agent set window_ 16
$ns attach-agent $a $agent
set sink [new Agent/$sink_name]
$ns attach-agent $b $sink
$ns connect $agent $sink
set losses [new ErrorModel/List]
$losses droplist $lost
$losses drop-target [new Agent/Null]
$ns lossmodel $losses $a $b
set trace [open /dev/stdout w]
$agent attach $trace
$agent trace cwnd_
$ns trace-queue $a $b $trace
set application [new Application/FTP]
$application attach-agent $agent
$ns at 0.0 "$application produce 120"
$ns at 60.0 "flush $trace; exit 0"
$ns run
