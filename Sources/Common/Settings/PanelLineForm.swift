/// The unchecked content of a panel line in the file.
private struct LineTable {
    var line: String?
    var chip: String?
    var offset: Int?
    var led: String?
    var activeLow: Bool?
    var pull: Settings.ButtonLine.Pull?

    @KeyList<LineTable> private static var addressKeys: [Key<LineTable>] {
        Key("line", \.line, .optional(.name("a line's name")))
        Key("chip", \.chip, .optional(.name("a chip's name")))
        Key("offset", \.offset, .optional(.integer(0...65_535)))
        Key("active_low", \.activeLow, .optional(.boolean))
    }

    @KeyList<LineTable> static var buttonKeys: [Key<LineTable>] {
        addressKeys
        Key("pull", \.pull, .optional(.choice))
    }

    @KeyList<LineTable> static var lampKeys: [Key<LineTable>] {
        addressKeys
        Key("led", \.led, .optional(.ledName))
    }

    /// The address, if the line is named in exactly one way.
    var address: Settings.LineAddress? {
        switch (line, chip, offset) {
        case (let name?, nil, nil): .name(name)
        case (nil, let chip?, let offset?): .offset(chip: chip, offset: offset)
        default: nil
        }
    }

    var buttonLine: Settings.ButtonLine? {
        address.map { Settings.ButtonLine($0, isActiveLow: activeLow ?? true, pull: pull ?? .up) }
    }

    var lampLine: Settings.LampLine? {
        switch (led, line, chip, offset, activeLow) {
        case (nil, _, _, _, _): address.map { .line($0, isActiveLow: activeLow ?? false) }
        // The kernel's driver of a LED device knows its polarity.
        case (let led?, nil, nil, nil, nil): .led(led)
        default: nil
        }
    }
}

private let lineTables = [#"{ line = "NAME" }"#, #"{ chip = "CHIP", offset = N }"#]

extension Form {
    /// A table with `keys`, or `"none"` for nil. A value that cannot be read is also nil, so that a wrong line is never
    /// driven.
    fileprivate static func table<Line>(
        _ allowed: [String], keys: [Key<LineTable>], _ line: @escaping @Sendable (LineTable) -> Line?
    ) -> Form where Value == Line? {
        var form = Form(allowed: allowed) { node, reader in
            guard reader.document.nodes[node].value == .table else { return .refused }
            var table = LineTable()
            let problemsBefore = reader.problemCount
            reader.read(node, keys, into: &table)
            guard reader.problemCount == problemsBefore else { return .reported }
            return line(table).map { .understood($0) } ?? .refused
        }
        form.misread = .some(nil)
        return form | .word("none", nil)
    }
}

extension Form where Value == Settings.ButtonLine? {
    static var button: Form {
        .table(lineTables, keys: LineTable.buttonKeys, \.buttonLine)
    }
}

extension Form where Value == Settings.LampLine? {
    static var lamp: Form {
        .table(lineTables + [#"{ led = "NAME" }"#], keys: LineTable.lampKeys, \.lampLine)
    }
}
