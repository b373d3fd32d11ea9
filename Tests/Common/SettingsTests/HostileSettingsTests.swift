import SeededRandom
import Testing

@testable import Settings

/// Content that no user writes on purpose.
struct HostileSettingsTests {
    /// Parses the bytes and checks that each problem has a position within the file, and is one line without control
    /// characters.
    private func problems(of bytes: [UInt8]) -> [SettingsProblem] {
        let lineCount = bytes.count { $0 == 0x0a } + 1
        let problems = Settings.parse(bytes, file: "f").problems
        for problem in problems {
            let isWithin = problem.line.map { (1...lineCount).contains($0) } ?? false
            #expect(isWithin, "\(problem) of \(lineCount) lines: \(String(decoding: bytes, as: UTF8.self))")
            let isPrintable = problem.description.unicodeScalars.allSatisfy {
                $0.properties.generalCategory != .control
            }
            #expect(isPrintable, "\(problem)")
        }
        return problems
    }

    @Test func `thousands of mutations of the shipped file never trap`() {
        var random = SeededRandom(seed: 20_261_121)
        let original = Array(ExampleFile.text.utf8)
        let tokens = [
            "\"", "'", "\"\"\"", "[", "]]", "{", "}", "=", ".", ",", "#", "\n", "\r", "\0", "nan", "-inf", "1e999",
            "-9223372036854775808", "99999999999999999999", "0x", "true", "1979-05-27T07:32:00Z", "\\u0000",
            "\\U0010ffff", "\u{fc}", "\u{202e}", "[panel.leds]", "all = {}", "line = 1", "[a.b.c.d]",
        ].map { Array($0.utf8) }
        var countOfBad = 0
        for _ in 0..<4000 {
            var bytes = original
            for _ in 0...random.below(4) {
                let place = random.below(bytes.count)
                switch random.below(6) {
                case 0: bytes[place] = UInt8(random.below(256))
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(contentsOf: tokens[random.below(tokens.count)], at: place)
                case 3: bytes.removeSubrange(place..<min(bytes.count, place + random.below(200)))
                case 4: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 100)], at: place / 2)
                default: bytes.removeSubrange(max(1, place)...)
                }
                if bytes.isEmpty { bytes = original }
            }
            countOfBad += problems(of: bytes).isEmpty ? 0 : 1
        }
        #expect(countOfBad > 1000)
    }

    @Test(arguments: [
        ["\0"], ["\u{feff}\u{feff}"], ["a", "=[", "]"], ["a={", "b=[", "]}"], ["[", "a.", "]"], ["[[", "a.", "]]"],
        ["", "a.", "=1"], ["\"", "\\n", "\""], ["a=\"\"\"", "\n", ""], ["", "[a]\n", ""], ["", "a=", ""],
    ])
    func `deep and endless things are reported, not followed`(_ pattern: [String]) {
        let middle = pattern.count == 3 ? pattern[1] : pattern[0]
        for count in [1, 8, 9, 400, 60_000, 300_000] {
            let repeated = String(repeating: middle, count: count)
            let text = pattern.count == 3 ? pattern[0] + repeated + pattern[2] : repeated
            _ = problems(of: Array(text.utf8))
        }
    }

    @Test func `a file without settings is reported as a hundred problems and the number of the rest`() throws {
        let text = (0..<7000).map { "k\($0)=1\n" }.joined()
        let problems = problems(of: Array(text.utf8))
        try #require(problems.count == 101)
        #expect(problems[99].message.hasPrefix("found an unknown section"))
        #expect(problems[100].description == "f:100: 6900 more problems are not listed: is this a settings file?")
        // A panel line whose faults are not listed is not driven either.
        let panel = "[panel.buttons]\nrecord = { line = \"GPIO1\", colour = \"red\" }\n"
        #expect(Settings.parse(text + panel, file: "f").settings.panel.buttons.record == nil)
    }

    @Test(arguments: ["\u{85}", "\u{9b}2J", "\u{2028}", "\u{2029}"])
    func `a path that is no single line is refused`(_ character: String) {
        let (settings, problems) = Settings.parse("takes.directory = \"/a\(character)b\"", file: "f")
        #expect(settings == Settings())
        #expect(problems.count == 1)
    }

    @Test func `the deepest tables that are allowed need little stack`() {
        let keys = Array(repeating: "a", count: 490).joined(separator: ".")
        var text = "[\(keys)]\n\(keys)=[\n"
        text += String(repeating: "{\(keys)=[\n", count: 3) + "]" + String(repeating: "}]", count: 3) + "\n"
        #expect(problems(of: Array(text.utf8)).count == 1)
        #expect(problems(of: Array((text + "!").utf8)).count == 1)
    }
}

/// The generator of Steele, Lea and Flood, 2014.
