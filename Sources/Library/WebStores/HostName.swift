/// Converts names of hosts to ASCII, as name servers need them.
enum HostName {
    /// The ASCII form of a host with or without a port. Labels with other letters become Punycode in lower case. Nil
    /// if some letters have several forms.
    static func ascii(_ host: some StringProtocol) -> String? {
        guard !host.utf8.allSatisfy({ $0 < 0x80 }) else { return String(host) }
        let name = host.prefix { $0 != ":" }
        guard name.lowercased().unicodeScalars.allSatisfy(isUnambiguous) else { return nil }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        return labels.map { label in
            label.utf8.allSatisfy { $0 < 0x80 } ? String(label) : "xn--" + punycode(label.lowercased())
        }.joined(separator: ".") + host[name.endIndex...]
    }

    /// A URL with its host in ASCII. Without ICU's data, Foundation cannot parse other hosts. Nil as for `ascii(_:)`.
    static func ascii(in url: String) -> String? {
        var parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count > 2, !parts[2].utf8.allSatisfy({ $0 < 0x80 }) else { return url }
        let start = parts[2].lastIndex(of: "@").map { parts[2].index(after: $0) } ?? parts[2].startIndex
        guard let host = ascii(parts[2][start...]) else { return nil }
        parts[2].replaceSubrange(start..., with: host)
        return parts.joined(separator: "/")
    }

    /// Whether a scalar of a name in lower case is the only form of its letter. An `é` has two, and Latin letters have
    /// others in full width. RFC 5891 leaves the choice between forms to the program that reads the name.
    private static func isUnambiguous(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return true }
        let properties = scalar.properties
        // The German ß and the Greek ς are letters of their own in names (RFC 5892, 2.6).
        let isLetter = scalar == "ß" || scalar == "ς" || !properties.changesWhenNFKCCaseFolded
        let isPartOfSyllable = (0x1100...0x11ff).contains(scalar.value)
        return isLetter && !isPartOfSyllable && properties.canonicalCombiningClass == .notReordered
            && (properties.isAlphabetic || properties.generalCategory == .decimalNumber)
    }

    /// The encoding of RFC 3492, 6.3, with its variable names.
    private static func punycode(_ label: String) -> String {
        let points = label.unicodeScalars.map { Int($0.value) }
        var output = points.filter { $0 < 0x80 }.map { Character(Unicode.Scalar(UInt8($0))) }
        let basicCount = output.count
        if basicCount > 0 { output.append("-") }
        var (n, delta, bias, handled) = (0x80, 0, 72, basicCount)
        while let next = points.filter({ $0 >= n }).min() {
            delta += (next - n) * (handled + 1)
            n = next
            for point in points {
                if point < n { delta += 1 }
                guard point == n else { continue }
                var q = delta
                for k in stride(from: base, to: .max, by: base) {
                    let t = min(max(k - bias, 1), 26)
                    guard q >= t else { break }
                    output.append(digit(t + (q - t) % (base - t)))
                    q = (q - t) / (base - t)
                }
                output.append(digit(q))
                bias = adapted(delta, handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            n += 1
        }
        return String(output)
    }

    private static let base = 36

    private static func digit(_ value: Int) -> Character {
        Character(Unicode.Scalar(UInt8(value < 26 ? 0x61 + value : 0x30 + value - 26)))
    }

    private static func adapted(_ delta: Int, _ count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var k = 0
        while delta > (base - 1) * 26 / 2 {
            delta /= base - 1
            k += base
        }
        return k + base * delta / (delta + 38)
    }
}
