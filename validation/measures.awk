# The usual measures of a trace of ns-2's wireless nodes, in the old format or the new one:
#
#     awk -f measures.awk trace.tr
#
# prints, over all CBR packets (type cbr), one `name value` a line:
#   sent, received         packets that agents sent and received; a packet counts once, whatever its copies
#   delivery_fraction      received / sent
#   delay_s                mean time from an agent to the other
#   routing_packets        packets of routing that were sent or forwarded, each hop
#   routing_bytes          their bytes
#   routing_load           routing packets for each packet received (normalised routing load)
#   throughput_bps         bits of TCP segments with data that agents received in order, from the first segment
#                          that was sent to the last that was received, headers included
#   tcp_received           those segments

function routing(type) {
    return type == "AODV" || type == "DSR" || type == "message" || type == "ADV" || type == "LUNAR"
}

{
    event = $1
    if (event != "s" && event != "r" && event != "f") next
    if ($2 == "-t") {
        # The new format: pairs of a tag and a value.
        delete tag
        for (at = 2; at < NF; at += 2) tag[$at] = $(at + 1)
        time = $3; layer = tag["-Nl"]; uid = tag["-Ii"]; type = tag["-It"]; size = tag["-Il"]
        number = tag["-Ps"] + 0; from = tag["-Is"]
    } else {
        time = $2; layer = $4; uid = $6; type = $7; size = $8
        number = ""; from = ""
        if (type == "tcp" && match($0, /------- \[[^ ]+/)) {
            from = substr($0, RSTART + 9, RLENGTH - 9)
            rest = substr($0, RSTART + RLENGTH)
            if (match(rest, /\] \[[0-9]+/)) number = substr(rest, RSTART + 3, RLENGTH - 3) + 0
        }
    }
}

layer == "AGT" && type == "cbr" && event == "s" { sent++; sent_at[uid] = time }
layer == "AGT" && type == "cbr" && event == "r" && (uid in sent_at) {
    received++
    delay += time - sent_at[uid]
    delete sent_at[uid]
}
layer == "RTR" && routing(type) && (event == "s" || event == "f") { packets++; bytes += size }
layer == "AGT" && type == "tcp" && event == "s" && first == "" { first = time }
layer == "AGT" && type == "tcp" && event == "r" && number > 0 {
    if (!(from in next_in_order)) next_in_order[from] = 1
    if (number >= next_in_order[from]) sizes[from, number] = size
    while ((from, next_in_order[from]) in sizes) {
        bits += 8 * sizes[from, next_in_order[from]]
        delete sizes[from, next_in_order[from]]
        next_in_order[from]++
        segments++
        last = time
    }
}

END {
    printf "sent %d\n", sent
    printf "received %d\n", received
    printf "delivery_fraction %.9f\n", sent ? received / sent : 0
    printf "delay_s %.9f\n", received ? delay / received : 0
    printf "routing_packets %d\n", packets
    printf "routing_bytes %d\n", bytes
    printf "routing_load %.9f\n", received ? packets / received : 0
    printf "throughput_bps %.3f\n", (last > first) ? bits / (last - first) : 0
    printf "tcp_received %d\n", segments
}
