set udp_(0) [new Agent/UDP]
$udp_(0) set packetSize_ 1460
$ns_ attach-agent $node_(1) $udp_(0)
set null_(0) [new Agent/LossMonitor]
$ns_ attach-agent $node_(2) $null_(0)
set cbr_(0) [new Application/Traffic/CBR]
$cbr_(0) set packetSize_ 1100
$cbr_(0) set interval_ 250ms
$cbr_(0) set random_ 1
$cbr_(0) set maxpkts_ 10000
$cbr_(0) attach-agent $udp_(0)
$ns_ connect $udp_(0) $null_(0)
$ns_ at 127.93667922166023 "$cbr_(0) start"
set udp_(1) [$ns_ create-connection UDP $node_(1) Null $node_(2) 0]
set cbr_(1) [$udp_(1) attach-app Traffic/CBR]
$cbr_(1) set rate_ 64kb
$ns_ at 1 "$cbr_(1) start"
