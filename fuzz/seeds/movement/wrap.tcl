set god_ [God instance]
$node(0) set X_ 9.5e1
$node(0) set Y_ .5
$ns at 1e0	"$node(0) setdest 100 +0.5 5" ;# to the edge
$ns at 2 "$node_(0) set X_ 0"
$ns at 2 "$node_(0) set Y_ 0.5"
$ns at 2 "$node_(0) setdest 50 0.5 5"
$ns_ at 4 "$node_(0) set X_ 7.0"
