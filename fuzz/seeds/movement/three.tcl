$node_(0) set X_ 10.0
$node_(0) set Y_ 20.0
$node_(0) set Z_ 0.0
$node_(1) set X_ 110.0
$node_(1) set Y_ 20.0
$node_(2) set X_ 210.0
$node_(2) set Y_ 20.0
$ns_ at 3.0 "$node_(1) setdest 100.0 100.0 10.0"
