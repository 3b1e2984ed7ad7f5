-- Shows the formats of manetlab's own in Wireshark and tshark: ADV, DSDV, SSA, ABR, ADP, PSP, the notifications
-- of TCP-BuS, LUNAR, DYMO, TORA, CEDAR, ZRP, and what TSR adds to DSR. docs/captures.md in the documentation has the layouts.
--
--     wireshark -X lua_script:"$(manetlab dissector)" run.pcapng
--
-- It also says that UDP ports 5004 and 5005 are RTP and RTCP.

local EXPERIMENTAL_PROTOCOL = 253
local EXPERIMENTAL_ETHER_TYPE = 0x88b5
local IPV4 = 0x0800

local own = Proto("manetlab", "manetlab's own formats")
local f = own.fields

local KINDS = {
    [1] = "ADV update",
    [2] = "ADV INIT-CONNECTION",
    [3] = "ADV RECEIVER-ALERT",
    [4] = "ADV END-CONNECTION",
    [5] = "ADV NON-RECEIVER-ALERT",
    [16] = "DSDV update",
    [32] = "ADP data",
    [33] = "ADP ACK",
    [40] = "PSP data",
    [41] = "PSP ACK",
    [48] = "TCP-BuS ERDN",
    [49] = "TCP-BuS ERSN",
    [64] = "LUNAR request",
    [65] = "LUNAR reply",
    [66] = "LUNAR data",
    [80] = "DYMO request",
    [81] = "DYMO reply",
    [82] = "DYMO error",
    [83] = "DYMO hello",
    [96] = "IMEP",
    [128] = "SSA beacon",
    [129] = "SSA search",
    [130] = "SSA reply",
    [131] = "SSA error",
    [132] = "SSA erasure",
    [144] = "ABR beacon",
    [145] = "ABR BQ",
    [146] = "ABR LQ",
    [147] = "ABR reply",
    [148] = "ABR RN[0]",
    [149] = "ABR RN[1] to the source",
    [150] = "ABR RN[1] that erases",
    [151] = "ABR RD",
    [112] = "message of a protocol in Python",
    [113] = "header of a protocol in Python",
    [160] = "CEDAR message",
    [161] = "CEDAR source route",
    [176] = "ZRP beacon",
    [177] = "ZRP link state",
    [178] = "ZRP query",
    [179] = "ZRP reply",
    [180] = "ZRP error",
    [181] = "ZRP route",
}
local PREFERENCES = { [0] = "strong links only", [1] = "strong links first", [2] = "any link" }
local RESPONSES = { [0] = "zero", [1] = "low", [2] = "medium", [3] = "high" }

f.kind = ProtoField.uint8("manetlab.kind", "Kind", base.DEC, KINDS)

f.adv_full = ProtoField.bool("manetlab.adv.full", "Full update")
f.adv_count = ProtoField.uint16("manetlab.adv.count", "Entries")
f.adv_entry = ProtoField.bytes("manetlab.adv.entry", "Entry")
f.adv_dst = ProtoField.ipv4("manetlab.adv.dst", "Destination")
f.adv_seqno = ProtoField.uint32("manetlab.adv.seqno", "Sequence number")
f.adv_metric = ProtoField.uint8("manetlab.adv.metric", "Metric")
f.adv_receiver = ProtoField.bool("manetlab.adv.is_receiver", "Active receiver")
f.adv_response = ProtoField.uint8("manetlab.adv.response", "Expected response", base.DEC, RESPONSES)
f.adv_two_way = ProtoField.bool("manetlab.adv.two_way", "Two-way connection")
f.adv_hops = ProtoField.uint8("manetlab.adv.hops", "Hops")
f.adv_origin = ProtoField.ipv4("manetlab.adv.origin", "Originator")
f.adv_origin_seqno = ProtoField.uint32("manetlab.adv.origin_seqno", "Originator's sequence number")
f.adv_id = ProtoField.uint32("manetlab.adv.id", "Flood")
f.adv_to = ProtoField.ipv4("manetlab.adv.receiver", "Receiver")

f.dsdv_entry = ProtoField.bytes("manetlab.dsdv.entry", "Entry")
f.dsdv_full = ProtoField.bool("manetlab.dsdv.full", "Full dump")
f.dsdv_dst = ProtoField.ipv4("manetlab.dsdv.dst", "Destination")
f.dsdv_metric = ProtoField.uint8("manetlab.dsdv.metric", "Metric")
f.dsdv_seqno = ProtoField.uint32("manetlab.dsdv.seqno", "Sequence number")

f.ssa_preference = ProtoField.uint8("manetlab.ssa.preference", "Preference", base.DEC, PREFERENCES)
f.ssa_ttl = ProtoField.uint8("manetlab.ssa.ttl", "Links it may cross")
f.ssa_source = ProtoField.ipv4("manetlab.ssa.source", "Source")
f.ssa_destination = ProtoField.ipv4("manetlab.ssa.destination", "Destination")
f.ssa_number = ProtoField.uint32("manetlab.ssa.number", "Number")
f.ssa_node = ProtoField.ipv4("manetlab.ssa.node", "Node")

f.abr_ttl = ProtoField.uint8("manetlab.abr.ttl", "Links it may cross")
f.abr_before = ProtoField.uint8("manetlab.abr.before", "Links before its first node")
f.abr_source = ProtoField.ipv4("manetlab.abr.source", "Source")
f.abr_destination = ProtoField.ipv4("manetlab.abr.destination", "Destination")
f.abr_number = ProtoField.uint32("manetlab.abr.number", "Number")
f.abr_node = ProtoField.ipv4("manetlab.abr.node", "Node")
f.abr_ticks = ProtoField.uint32("manetlab.abr.ticks", "Ticks")
f.abr_load = ProtoField.uint16("manetlab.abr.load", "Routes that it relays")

f.adp_flow = ProtoField.uint16("manetlab.adp.flow", "Flow")
f.adp_number = ProtoField.uint32("manetlab.adp.number", "Number")
f.adp_stamp = ProtoField.uint32("manetlab.adp.time", "Time stamp (µs)")
f.adp_message = ProtoField.uint32("manetlab.adp.message", "Message")
f.adp_count = ProtoField.uint32("manetlab.adp.count", "Packets answered")
f.adp_vector = ProtoField.bytes("manetlab.adp.vector", "Vector")

f.psp_flow = ProtoField.uint16("manetlab.psp.flow", "Flow")
f.psp_number = ProtoField.uint32("manetlab.psp.number", "Number, or the greatest that arrived")
f.psp_time = ProtoField.uint32("manetlab.psp.time_us", "Round-trip time, or how long ago it arrived, in µs")
f.psp_message = ProtoField.uint32("manetlab.psp.message", "Message")
f.psp_sent = ProtoField.uint16("manetlab.psp.sent", "Packets sent since the last ACK")
f.psp_received = ProtoField.uint16("manetlab.psp.received", "Packets received since the last ACK")

f.bus_flow = ProtoField.uint32("manetlab.bus.flow", "Flow")
f.bus_connection = ProtoField.uint32("manetlab.bus.connection", "Connection")
f.bus_dst = ProtoField.ipv4("manetlab.bus.dst", "Destination")
f.bus_first = ProtoField.uint32("manetlab.bus.first", "First segment kept")
f.bus_after = ProtoField.uint32("manetlab.bus.after", "First segment after them")

f.lunar_selector = ProtoField.uint64("manetlab.lunar.selector", "Selector", base.HEX)
f.lunar_hops = ProtoField.uint8("manetlab.lunar.hops_left", "Links it may cross")
f.lunar_origin = ProtoField.ipv4("manetlab.lunar.origin", "Originator")
f.lunar_number = ProtoField.uint32("manetlab.lunar.number", "Number")
f.lunar_target = ProtoField.ipv4("manetlab.lunar.target", "Target")
f.lunar_reply_to = ProtoField.uint64("manetlab.lunar.reply_to", "Selector for answers", base.HEX)
f.lunar_forward = ProtoField.uint64("manetlab.lunar.forward", "Selector for data", base.HEX)
f.lunar_sender = ProtoField.ether("manetlab.lunar.sender", "Sender")
f.lunar_type = ProtoField.uint16("manetlab.lunar.type", "Type of what follows", base.HEX)

f.dymo_limit = ProtoField.uint8("manetlab.dymo.hop_limit", "Links it may cross")
f.dymo_count = ProtoField.uint8("manetlab.dymo.hop_count", "Links it has crossed")
f.dymo_target = ProtoField.ipv4("manetlab.dymo.target", "Target")
f.dymo_target_seqno = ProtoField.uint16("manetlab.dymo.target_seqno", "Target's number")
f.dymo_node = ProtoField.ipv4("manetlab.dymo.node", "Node")
f.dymo_seqno = ProtoField.uint16("manetlab.dymo.seqno", "Number")

local OBJECTS = { [1] = "query", [2] = "update", [3] = "clear" }
f.imep_new = ProtoField.bool("manetlab.imep.new", "The sender has just started", 8, nil, 8)
f.imep_hello = ProtoField.ipv4("manetlab.imep.hello", "Neighbour that is heard")
f.imep_ack = ProtoField.ipv4("manetlab.imep.ack", "Sender of the block that has arrived")
f.imep_ack_block = ProtoField.uint8("manetlab.imep.ack_block", "Its number")
f.imep_block = ProtoField.uint8("manetlab.imep.block", "Block")
f.imep_responder = ProtoField.ipv4("manetlab.imep.responder", "To be acknowledged by")
f.tora_type = ProtoField.uint8("manetlab.tora.type", "Message of TORA", base.DEC, OBJECTS)
f.tora_dst = ProtoField.ipv4("manetlab.tora.dst", "Destination")
f.tora_known = ProtoField.bool("manetlab.tora.known", "Has a height")
f.tora_reflected = ProtoField.bool("manetlab.tora.reflected", "Reflected")
f.tora_tau = ProtoField.uint64("manetlab.tora.tau", "Time of the level, ns")
f.tora_oid = ProtoField.ipv4("manetlab.tora.oid", "Maker of the level")
f.tora_delta = ProtoField.int32("manetlab.tora.delta", "Order in the level")

local CEDAR = {
    [0] = "beacon",
    [1] = "join",
    [2] = "ask",
    [3] = "find",
    [4] = "found",
    [5] = "build",
    [6] = "reply",
    [7] = "error",
}

f.cedar_what = ProtoField.uint8("manetlab.cedar.what", "Message", base.DEC, CEDAR)
f.cedar_to = ProtoField.ipv4("manetlab.cedar.to", "Still to cross")
f.cedar_degree = ProtoField.uint16("manetlab.cedar.effective_degree", "Effective degree")
f.cedar_dominator = ProtoField.ipv4("manetlab.cedar.dominator", "Dominator")
f.cedar_neighbour = ProtoField.ipv4("manetlab.cedar.neighbour", "Neighbour")
f.cedar_heard = ProtoField.ipv4("manetlab.cedar.heard", "Only heard")
f.cedar_near = ProtoField.ipv4("manetlab.cedar.near", "Core node, or the neighbour over which it is")
f.cedar_source = ProtoField.ipv4("manetlab.cedar.source", "Source")
f.cedar_target = ProtoField.ipv4("manetlab.cedar.target", "Target")
f.cedar_number = ProtoField.uint32("manetlab.cedar.number", "Number")
f.cedar_core = ProtoField.ipv4("manetlab.cedar.core_path", "Core path")
f.cedar_served = ProtoField.ipv4("manetlab.cedar.served", "Served")
f.cedar_route = ProtoField.ipv4("manetlab.cedar.route", "Route")
f.cedar_link = ProtoField.ipv4("manetlab.cedar.link", "End of the broken link")

f.zrp_ttl = ProtoField.uint16("manetlab.zrp.ttl", "Links it may cross")
f.zrp_origin = ProtoField.ipv4("manetlab.zrp.origin", "Origin")
f.zrp_number = ProtoField.uint32("manetlab.zrp.number", "Number")
f.zrp_neighbour = ProtoField.ipv4("manetlab.zrp.neighbour", "Neighbour")
f.zrp_destination = ProtoField.ipv4("manetlab.zrp.destination", "Destination")
f.zrp_target = ProtoField.ipv4("manetlab.zrp.target", "To bordercast it")
f.zrp_to = ProtoField.ipv4("manetlab.zrp.to", "To have it next")
f.zrp_link = ProtoField.ipv4("manetlab.zrp.link", "End of the broken link")
f.zrp_path = ProtoField.ipv4("manetlab.zrp.path", "Path")

f.header_next = ProtoField.uint8("manetlab.header.next", "IP protocol of what follows")
f.header_length = ProtoField.uint16("manetlab.header.length", "Length")

local function adv_update(tvb, tree)
    tree:add(f.adv_full, tvb(1, 1))
    tree:add(f.adv_count, tvb(2, 2))
    for offset = 4, tvb:len() - 8, 8 do
        local entry = tree:add(f.adv_entry, tvb(offset, 8))
        local word = tvb(offset + 4, 4)
        entry:add(f.adv_dst, tvb(offset, 4))
        entry:add(f.adv_seqno, word, word:bitfield(0, 21))
        entry:add(f.adv_metric, word, word:bitfield(21, 8))
        entry:add(f.adv_receiver, word, word:bitfield(29, 1) == 1)
        entry:add(f.adv_response, word, word:bitfield(30, 2))
    end
end

local function adv_flood(tvb, tree)
    tree:add(f.adv_two_way, tvb(1, 1))
    tree:add(f.adv_hops, tvb(2, 1))
    tree:add(f.adv_origin, tvb(4, 4))
    tree:add(f.adv_origin_seqno, tvb(8, 4))
    tree:add(f.adv_id, tvb(12, 4))
    tree:add(f.adv_to, tvb(16, 4))
end

local function dsdv(tvb, tree)
    for offset = 0, tvb:len() - 12, 12 do
        local entry = tree:add(f.dsdv_entry, tvb(offset, 12))
        entry:add(f.dsdv_full, tvb(offset + 1, 1))
        entry:add(f.dsdv_metric, tvb(offset + 2, 1))
        entry:add(f.dsdv_dst, tvb(offset + 4, 4))
        entry:add(f.dsdv_seqno, tvb(offset + 8, 4))
    end
end

local function ssa(tvb, tree)
    tree:add(f.ssa_preference, tvb(1, 1))
    tree:add(f.ssa_ttl, tvb(2, 1))
    tree:add(f.ssa_source, tvb(4, 4))
    tree:add(f.ssa_destination, tvb(8, 4))
    tree:add(f.ssa_number, tvb(12, 4))
    for place = 1, tvb(3, 1):uint() do
        tree:add(f.ssa_node, tvb(12 + 4 * place, 4))
    end
end

local function abr(tvb, tree)
    tree:add(f.abr_ttl, tvb(1, 1))
    tree:add(f.abr_before, tvb(2, 1))
    tree:add(f.abr_source, tvb(4, 4))
    tree:add(f.abr_destination, tvb(8, 4))
    tree:add(f.abr_number, tvb(12, 4))
    local kind, offset = tvb(0, 1):uint(), 16
    for _ = 1, tvb(3, 1):uint() do
        tree:add(f.abr_node, tvb(offset, 4))
        if kind == 145 or kind == 146 then
            tree:add(f.abr_ticks, tvb(offset + 4, 4))
            tree:add(f.abr_load, tvb(offset + 8, 2))
            offset = offset + 8
        end
        offset = offset + 4
    end
end

local function adp(tvb, pinfo, tree, root)
    local is_data = tvb(0, 1):uint() == 32
    tree:add(f.adp_flow, tvb(2, 2))
    tree:add(f.adp_number, tvb(4, 4))
    tree:add(f.adp_stamp, tvb(8, 4))
    if is_data then
        tree:add(f.adp_message, tvb(12, 4))
        if tvb(1, 1):uint() == 1 then
            Dissector.get("rtp"):call(tvb(16):tvb(), pinfo, root)
        end
    else
        tree:add(f.adp_count, tvb(12, 4))
        if tvb(1, 1):uint() > 0 then
            tree:add(f.adp_vector, tvb(16, tvb(1, 1):uint()))
        end
    end
end

local function psp(tvb, tree)
    tree:add(f.psp_flow, tvb(2, 2))
    tree:add(f.psp_number, tvb(4, 4))
    tree:add(f.psp_time, tvb(8, 4))
    if tvb(0, 1):uint() == 40 then
        tree:add(f.psp_message, tvb(12, 4))
    else
        tree:add(f.psp_sent, tvb(12, 2))
        tree:add(f.psp_received, tvb(14, 2))
    end
end

local function bus(tvb, tree)
    tree:add(f.bus_flow, tvb(4, 4))
    tree:add(f.bus_connection, tvb(8, 4))
    tree:add(f.bus_dst, tvb(12, 4))
    for offset = 20, tvb:len() - 8, 8 do
        tree:add(f.bus_first, tvb(offset, 4))
        tree:add(f.bus_after, tvb(offset + 4, 4))
    end
end

local function tora(tvb, tree)
    local length = tvb(1, 1):uint()
    tree:add(f.tora_type, tvb(0, 1))
    tree:add(f.tora_dst, tvb(2, 4))
    local level = 6
    if length == 32 then
        tree:add(f.tora_known, tvb(6, 1))
        tree:add(f.tora_reflected, tvb(7, 1))
        tree:add(f.tora_delta, tvb(22, 4))
        level = 10
    end
    if length > 8 then
        tree:add(f.tora_tau, tvb(level, 8))
        tree:add(f.tora_oid, tvb(level + 8, 4))
    end
    return 2 + length
end

local function imep(tvb, tree)
    local parts, offset = tvb(1, 1):uint(), 4
    tree:add(f.imep_new, tvb(1, 1))
    local function list(part, width, add)
        if math.floor(parts / part) % 2 == 1 then
            local first = offset + 4
            offset = first + width * tvb(offset, 2):uint()
            for place = first, offset - width, width do
                add(place)
            end
        end
    end
    list(1, 4, function(place) tree:add(f.imep_hello, tvb(place, 4)) end)
    list(2, 8, function(place)
        tree:add(f.imep_ack, tvb(place, 4))
        tree:add(f.imep_ack_block, tvb(place + 4, 1))
    end)
    if math.floor(parts / 4) % 2 == 1 then
        local responders = tvb(offset + 2, 2):uint()
        tree:add(f.imep_block, tvb(offset, 1))
        for place = offset + 4, offset + 4 * responders, 4 do
            tree:add(f.imep_responder, tvb(place, 4))
        end
        offset = offset + 4 + 4 * responders
        while offset < tvb:len() do
            offset = offset + tora(tvb(offset), tree)
        end
    end
end

local function header(tvb, pinfo, tree, root)
    local length = tvb(2, 2):uint()
    tree:add(f.header_next, tvb(1, 1))
    tree:add(f.header_length, tvb(2, 2))
    if tvb:len() > length then
        DissectorTable.get("ip.proto"):try(tvb(1, 1):uint(), tvb(length):tvb(), pinfo, root)
    end
end

-- A list of nodes; what follows it begins at the offset that is returned.
local function cedar_nodes(tvb, tree, field, offset)
    local count = tvb(offset, 2):uint()
    for place = offset + 2, offset + 4 * count - 2, 4 do
        tree:add(field, tvb(place, 4))
    end
    return offset + 2 + 4 * count
end

local CEDAR_LISTS = {
    [3] = { f.cedar_core, f.cedar_served },
    [4] = { f.cedar_core },
    [5] = { f.cedar_core, f.cedar_route },
    [6] = { f.cedar_route },
}

local function cedar(tvb, tree)
    local what, offset = tvb(1, 1):uint(), 4
    tree:add(f.cedar_what, tvb(1, 1))
    for _ = 1, tvb(2, 1):uint() do
        offset = cedar_nodes(tvb, tree, f.cedar_to, offset)
    end
    if what == 0 then
        tree:add(f.cedar_degree, tvb(offset, 2))
        if tvb(3, 1):uint() == 1 then
            tree:add(f.cedar_dominator, tvb(offset + 4, 4))
        end
        offset = cedar_nodes(tvb, tree, f.cedar_neighbour, offset + 8)
        offset = cedar_nodes(tvb, tree, f.cedar_heard, offset)
        cedar_nodes(tvb, tree, f.cedar_near, offset)
    elseif what == 7 then
        tree:add(f.cedar_link, tvb(offset, 4))
        tree:add(f.cedar_link, tvb(offset + 4, 4))
    elseif what >= 2 then
        tree:add(f.cedar_source, tvb(offset, 4))
        tree:add(f.cedar_target, tvb(offset + 4, 4))
        tree:add(f.cedar_number, tvb(offset + 8, 4))
        offset = offset + 12
        for _, field in ipairs(CEDAR_LISTS[what] or {}) do
            offset = cedar_nodes(tvb, tree, field, offset)
        end
    end
end

local function cedar_route(tvb, pinfo, tree, root)
    local length = 4 + 4 * tvb(2, 1):uint()
    tree:add(f.header_next, tvb(1, 1))
    for place = 4, length - 4, 4 do
        tree:add(f.cedar_route, tvb(place, 4))
    end
    if tvb:len() > length then
        DissectorTable.get("ip.proto"):try(tvb(1, 1):uint(), tvb(length):tvb(), pinfo, root)
    end
end

local function zrp(tvb, tree)
    local kind, path = tvb(0, 1):uint(), tvb:len()
    if kind == 177 then
        tree:add(f.zrp_ttl, tvb(2, 2))
        tree:add(f.zrp_origin, tvb(4, 4))
        tree:add(f.zrp_number, tvb(8, 4))
        for place = 12, tvb:len() - 4, 4 do
            tree:add(f.zrp_neighbour, tvb(place, 4))
        end
    elseif kind == 178 then
        tree:add(f.zrp_number, tvb(4, 4))
        tree:add(f.zrp_destination, tvb(8, 4))
        path = 12 + 4 * tvb(2, 2):uint()
        for place = 12, path - 4, 4 do
            tree:add(f.zrp_target, tvb(place, 4))
        end
    elseif kind == 179 then
        tree:add(f.zrp_to, tvb(4, 4))
        tree:add(f.zrp_number, tvb(8, 4))
        path = 12
    elseif kind == 180 then
        tree:add(f.zrp_to, tvb(4, 4))
        tree:add(f.zrp_link, tvb(8, 4))
        tree:add(f.zrp_link, tvb(12, 4))
        path = 16
    end
    for place = path, tvb:len() - 4, 4 do
        tree:add(f.zrp_path, tvb(place, 4))
    end
end

local function zrp_route(tvb, pinfo, tree, root)
    local length = 4 + 4 * tvb(2, 2):uint()
    tree:add(f.header_next, tvb(1, 1))
    for place = 4, length - 4, 4 do
        tree:add(f.zrp_path, tvb(place, 4))
    end
    if tvb:len() > length then
        DissectorTable.get("ip.proto"):try(tvb(1, 1):uint(), tvb(length):tvb(), pinfo, root)
    end
end

function own.dissector(tvb, pinfo, root)
    local kind = tvb(0, 1):uint()
    local tree = root:add(own, tvb())
    tree:add(f.kind, tvb(0, 1))
    pinfo.cols.protocol = "manetlab"
    pinfo.cols.info = KINDS[kind] or ("kind " .. kind)
    if kind == 1 then
        adv_update(tvb, tree)
    elseif kind >= 2 and kind <= 5 then
        adv_flood(tvb, tree)
    elseif kind == 16 then
        dsdv(tvb, tree)
    elseif kind >= 128 and kind <= 132 then
        ssa(tvb, tree)
    elseif kind >= 144 and kind <= 151 then
        abr(tvb, tree)
    elseif kind == 32 or kind == 33 then
        adp(tvb, pinfo, tree, root)
    elseif kind == 40 or kind == 41 then
        psp(tvb, tree)
    elseif kind == 48 or kind == 49 then
        bus(tvb, tree)
    elseif kind == 96 then
        imep(tvb, tree)
    elseif kind == 113 then
        header(tvb, pinfo, tree, root)
    elseif kind == 160 then
        cedar(tvb, tree)
    elseif kind == 161 then
        cedar_route(tvb, pinfo, tree, root)
    elseif kind >= 176 and kind <= 180 then
        zrp(tvb, tree)
    elseif kind == 181 then
        zrp_route(tvb, pinfo, tree, root)
    end
    return tvb:len()
end

DissectorTable.get("ip.proto"):add(EXPERIMENTAL_PROTOCOL, own)

-- LUNAR stands below IP. Its kind follows the selector.
local lunar = Proto("manetlab_lunar", "LUNAR")

function lunar.dissector(tvb, pinfo, root)
    local kind = tvb(8, 1):uint()
    local tree = root:add(own, tvb())
    tree:add(f.lunar_selector, tvb(0, 8))
    tree:add(f.kind, tvb(8, 1))
    if kind == 66 then
        tree:add(f.lunar_type, tvb(10, 2))
        DissectorTable.get("ethertype"):try(IPV4, tvb(12):tvb(), pinfo, root)
        return tvb:len()
    end
    pinfo.cols.protocol = "LUNAR"
    pinfo.cols.info = KINDS[kind] or ("kind " .. kind)
    tree:add(f.lunar_origin, tvb(12, 4))
    tree:add(f.lunar_number, tvb(16, 4))
    if kind == 64 then
        tree:add(f.lunar_hops, tvb(9, 1))
        tree:add(f.lunar_target, tvb(20, 4))
        tree:add(f.lunar_reply_to, tvb(24, 8))
        tree:add(f.lunar_sender, tvb(32, 6))
    else
        tree:add(f.lunar_forward, tvb(20, 8))
        tree:add(f.lunar_sender, tvb(28, 6))
    end
    return tvb:len()
end

DissectorTable.get("ethertype"):add(EXPERIMENTAL_ETHER_TYPE, lunar)

-- DYMO's messages are in UDP datagrams.
local dymo = Proto("manetlab_dymo", "DYMO")

function dymo.dissector(tvb, pinfo, root)
    local kind = tvb(0, 1):uint()
    local tree = root:add(own, tvb())
    pinfo.cols.protocol = "DYMO"
    pinfo.cols.info = KINDS[kind] or ("kind " .. kind)
    tree:add(f.kind, tvb(0, 1))
    tree:add(f.dymo_limit, tvb(1, 1))
    local lengths = 2
    if kind ~= 82 then
        lengths = 3
        tree:add(f.dymo_count, tvb(2, 1))
        tree:add(f.dymo_target, tvb(5, 4))
        tree:add(f.dymo_target_seqno, tvb(9, 2))
    end
    local header, node = tvb(lengths, 1):uint(), math.max(tvb(lengths + 1, 1):uint(), 6)
    for offset = header, tvb:len() - node, node do
        tree:add(f.dymo_node, tvb(offset, 4))
        tree:add(f.dymo_seqno, tvb(offset + 4, 2))
    end
    return tvb:len()
end

DissectorTable.get("udp.port"):add(653, dymo)

-- TSR uses three reserved bits of DSR's fixed header, which Wireshark's own dissector shows as reserved.
local tsr = Proto("manetlab_tsr", "TSR")
tsr.fields.mark = ProtoField.string("manetlab.tsr.mark", "Mark")
local dsr_reserved = Field.new("dsr.reserved")
local MARKS = { [1] = "REPLY PROBE", [2] = "request that only its target answers", [4] = "ROUTE PROBE" }

function tsr.dissector(tvb, pinfo, root)
    local reserved = dsr_reserved()
    local mark = reserved and MARKS[reserved.value]
    if mark then
        root:add(tsr):add(tsr.fields.mark, mark):set_generated()
        pinfo.cols.info:append(" [TSR: " .. mark .. "]")
    end
end

register_postdissector(tsr)

local udp = DissectorTable.get("udp.port")
udp:add(5004, Dissector.get("rtp"))
udp:add(5005, Dissector.get("rtcp"))
