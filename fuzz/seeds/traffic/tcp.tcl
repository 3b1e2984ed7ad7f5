#
# 3 connecting to 7 at time 50.500
#
set tcp_(0) [$ns_ create-connection TCP $node_(3) TCPSink $node_(7) 0]
$tcp_(0) set window_ 32
$tcp_(0) set packetSize_ 512
set ftp_(0) [$tcp_(0) attach-source FTP]
$ns_ at 50.500 "$ftp_(0) start"
$ns_ at 90.0 "$ftp_(0) stop"
set tcp [new Agent/TCP]
$tcp set class_ 2
set sink [new Agent/TCPSink]
$ns attach-agent $node(1) $tcp
$ns attach-agent $node(2) $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 1.5e2 "$ftp start"
