set udp_(0) [$ns_ create-connection UDP $node_(1) Null $node_(2) 0]
set cbr_(0) [$udp_(0) attach-app Traffic/CBR]
$cbr_(0) set rate_ 64kb
$ns_ at 1 "$cbr_(0) start"
set tcp_(0) [$ns_ create-connection TCP $node_(0) TCPSink $node_(2) 0]
set ftp_(0) [$tcp_(0) attach-source FTP]
$ns_ at 2.5 "$ftp_(0) start"
