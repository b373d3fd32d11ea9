import Takes

/// A Wi-Fi network that a kit may join, as a person writes it into `wifi.toml`:
///
///     [home]
///     name = "Waldhütte 5"
///     password = "correct horse"
///
/// If `name` is missing, the table's name is the network's name. A network without a password is open. A network that
/// does not announce its name needs `hidden = true`.
public struct WirelessNetwork: Hashable, Sendable {
    /// The table's name, unique in the file.
    public var label: String
    /// The network's name (SSID), 1 to 32 bytes of UTF-8.
    public var name: String
    /// A passphrase of 8 to 63 printable ASCII characters, or a key of 64 hexadecimal digits (IEEE 802.11i, H.4), or
    /// nil for an open network.
    public var password: String?
    /// Whether the network does not announce its name.
    public var isHidden = false

    /// Reads a table, or returns nil if something is wrong with it, which was then reported.
    init?(table: Int, _ reader: inout SettingsReader) {
        let before = reader.problemCount
        let nodes = reader.document.nodes
        label = nodes[table].key
        name = label
        guard nodes[table].value == .table else {
            reader.report(
                table,
                "stands outside a network: begin one with its name in brackets, such as [home]; only country stands above them"
            )
            return nil
        }
        var nameNode = table
        for child in reader.document.children(of: table) {
            switch (nodes[child].key, nodes[child].value) {
            case ("name", .string(let text)): (name, nameNode) = (text, child)
            case ("password", .string(let text)):
                password = text
                if let fault = Self.fault(ofPassword: text) { reader.report(child, fault) }
            case ("hidden", .boolean(let value)): isHidden = value
            case ("name", _), ("password", _):
                reader.report(child, "is not in quotation marks: \(nodes[child].key) = \"…\"")
            case ("hidden", _): reader.report(child, "allowed are true and false")
            default: reader.report(child, "found an unknown key: allowed are name, password and hidden")
            }
        }
        if name.isEmpty || name.utf8.count > 32 || name.utf8.contains(0) {
            reader.report(nameNode, "has \(name.utf8.count) bytes: the name of a network has 1 to 32")
        }
        guard reader.problemCount == before else { return nil }
    }

    private static func fault(ofPassword text: String) -> String? {
        let count = text.unicodeScalars.count
        if count == 64, text.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) { return nil }
        guard (8...63).contains(count) else {
            return "has \(count) characters: allowed are 8 to 63, or 64 hexadecimal digits; left out: open"
        }
        guard text.utf8.allSatisfy({ (32...126).contains($0) }) else {
            return "has a character that is not printable ASCII: no network has such a password"
        }
        return nil
    }
}

extension WirelessNetwork {
    /// A NetworkManager profile (nm-settings-keyfile(5)), for a file that only its owner may read.
    public var profile: String {
        // As numbers, the bytes need no escaping.
        var lines = [
            "[connection]", "id=\(Self.keyfileText(label))", "type=wifi", "", "[wifi]",
            "ssid=\(name.utf8.map { "\($0);" }.joined())",
        ]
        if isHidden { lines.append("hidden=true") }
        // "wpa-psk" covers both WPA2 and WPA3.
        if let password { lines += ["", "[wifi-security]", "key-mgmt=wpa-psk", "psk=\(Self.keyfileText(password))"] }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The profile's file name: letters and digits of the label, and the index, which makes it unique.
    /// - Parameter index: from 0.
    public func profileName(_ index: Int) -> String {
        let plain = label.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        return "kit-\(index + 1)-\(plain.prefix(24)).nmconnection"
    }

    /// Text in the syntax of GLib's key files.
    private static func keyfileText(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case " " where result.isEmpty: result += "\\s"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
