import Takes

/// The Wi-Fi networks that a kit may join, and its country, as a person writes them into `wifi.toml`:
///
///     country = "DE"
///
///     [home]
///     name = "Waldhütte 5"
///     password = "correct horse"
public struct WirelessList: Hashable, Sendable {
    /// In the file's order.
    public var networks: [WirelessNetwork] = []
    /// Two letters (ISO 3166-1 alpha-2), or nil if the file lacks it. Then only what all countries allow is used.
    public var country: String?

    /// Reads the bytes of a file whose path is `file`. Returns the networks without problems, and all problems, in the
    /// file's order. No problem quotes a password.
    public static func parse(_ bytes: [UInt8], file: String) -> (list: Self, problems: [SettingsProblem]) {
        var list = Self()
        do throws(TOMLDocument.Failure) {
            var reader = SettingsReader(document: try TOMLDocument(bytes), file: file)
            for node in reader.document.children(of: 0) {
                if reader.document.nodes[node].key == "country" {
                    list.country = country(node, &reader)
                } else if let network = WirelessNetwork(table: node, &reader) {
                    list.networks.append(network)
                }
            }
            return (list, reader.problems)
        } catch {
            // The parser quotes the text it found, which may be a password.
            let problem = SettingsProblem(
                file: file, line: error.place.line, column: error.place.column,
                message:
                    "is not TOML: a network is [home], and below it name = \"…\" and password = \"…\", in quotation marks"
            )
            return (list, [problem])
        }
    }

    private static func country(_ node: Int, _ reader: inout SettingsReader) -> String? {
        guard case .string(let text) = reader.document.nodes[node].value, text.utf8.count == 2,
            text.utf8.allSatisfy({ (65...90).contains($0) }), text != "UK"
        else {
            reader.report(node, "allowed are the two capital letters of a country, such as \"DE\", \"GB\" or \"US\"")
            return nil
        }
        return text
    }
}
