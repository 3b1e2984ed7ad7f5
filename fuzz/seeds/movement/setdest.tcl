#
# nodes: 2, pause: 0.00, max speed: 20.00, max x: 500.00, max y: 500.00
#
$node_(0) set X_ 83.364547538000
$node_(0) set Y_ 239.438000000000
$node_(0) set Z_ 0.000000000000
$node_(1) set X_ 257.0
$node_(1) set Y_ 120.5
$node_(1) set Z_ 0.0
$god_ set-dist 0 1 1
$ns_ at 2.000000000000 "$node_(0) setdest 150.000000000000 100.000000000000 10.500000000000"
$ns_ at 5.250000000000 "$god_ set-dist 0 1 16777215"
$ns_ at 9.000000000000 "$node_(1) setdest 0.1 499.9 0.0"
