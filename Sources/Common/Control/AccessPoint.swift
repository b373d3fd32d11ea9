/// The kit's own Wi-Fi, opened by `deploy/systemd/access-point`.
public struct AccessPoint: Hashable, Sendable {
    public let name: String
    public let password: String

    /// The file that holds the password in its first line.
    public static let passwordFile = "/etc/fieldfare/access-point"

    /// - Parameter bytes: the content of the password's file.
    /// - Returns: nil if the file has no line.
    public init?(hostName: String, passwordFile bytes: [UInt8]) {
        guard let line = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).first else {
            return nil
        }
        // The maximum length of a network name (IEEE 802.11).
        name = String(hostName.prefix(32))
        password = String(line)
    }

    /// The kit's address in its own Wi-Fi.
    /// - Parameter port: the port of the page, or nil if the page is off.
    public static func address(port: Int?) -> String {
        "http://10.42.0.1" + (port == 80 ? "" : port.map { ":\($0)" } ?? "")
    }

    /// The text of a QR code with which phones join the network. Source: ZXing's wiki, "Barcode Contents".
    public var code: String {
        let (name, password) = (Self.escaped(name), Self.escaped(password))
        return "WIFI:T:WPA;S:\(name);P:\(password);;"
    }

    private static func escaped(_ text: String) -> String {
        text.map { #"\;,":"#.contains($0) ? "\\\($0)" : String($0) }.joined()
    }
}
