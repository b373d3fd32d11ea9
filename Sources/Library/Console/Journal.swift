import Control
import FoundationEssentials
import HTTPTypes
import NIOPosix
import Programs
import Takes
import Transport

/// The log of both services, as journalctl(1) reports it.
struct Journal: Sendable {
    /// The program; tests replace it.
    var program = "/usr/bin/journalctl"

    private static let units = ["fieldfare-recorder.service", "fieldfare-library.service"]
    /// The most lines of one answer.
    static let mostLines = 500
    /// The limit of the program's output. A line has at most 48 KiB (`LineMax=` of journald.conf(5)).
    private static let mostBytes = 8 << 20
    private static let patience = Duration.seconds(10)

    struct Line: Encodable, Equatable {
        /// ISO 8601, UTC.
        var time: String
        /// From 0 for emergency to 7 for debug (RFC 5424, 6.2.1).
        var priority: Int
        /// The program that wrote it.
        var from: String
        var text: String
    }

    /// A page of lines, newest first.
    struct Page: Encodable {
        var lines: [Line]
        /// The key of the page with earlier lines; null if there is none.
        @ExplicitNull var next: String?
    }

    /// Reads lines. It may wait for the disk.
    /// - Parameter after: the `next` of the previous page; nil for the newest line.
    /// - Throws: `Problem`.
    func page(limit: Int, after: String?) throws(Problem) -> Page {
        var arguments = [
            "--no-pager", "--quiet", "--reverse", "--output=json", "--all", "--lines=\(limit + 1)",
            "--output-fields=PRIORITY,SYSLOG_IDENTIFIER,MESSAGE",
        ]
        arguments += Self.units.map { "--unit=\($0)" }
        if let after {
            guard (1...300).contains(after.utf8.count), after.utf8.allSatisfy(Self.isOfCursor) else {
                throw Self.noCursor(after)
            }
            arguments.append("--cursor=\(after)")
        }
        let output: ProgramOutput
        do throws(ProgramError) {
            output = try ProgramOutput(of: program, arguments, limit: Self.mostBytes, patience: Self.patience)
        } catch {
            if let after, error.problem.contains("cursor") { throw Self.noCursor(after) }
            throw Problem(.logUnreadable(message: "log: \(error): look at it on the kit with journalctl"))
        }
        let entries = output.bytes.split(separator: UInt8(ascii: "\n")).compactMap { try? JSONValue(decoding: $0) }
        let following = entries.count > limit ? entries[limit]["__CURSOR"]?.text : nil
        return Page(lines: entries.prefix(limit).compactMap(Self.line), next: following)
    }

    private static func noCursor(_ text: String) -> Problem {
        Problem(
            .badRequest, .usage,
            "log: after: found \(JSONValue.string(String(text.prefix(40)))), allowed is what 'next' of a page says")
    }

    private static func isOfCursor(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "="),
            UInt8(ascii: ";"):
            true
        default: false
        }
    }

    private static func line(_ entry: JSONValue) -> Line? {
        guard let microseconds = entry["__REALTIME_TIMESTAMP"]?.text.flatMap({ Int64($0) }),
            let message = text(entry["MESSAGE"])
        else { return nil }
        return Line(
            time: WallTime(microseconds: microseconds).iso8601,
            priority: entry["PRIORITY"]?.text.flatMap { Int($0) } ?? 6,
            from: text(entry["SYSLOG_IDENTIFIER"]) ?? "", text: message)
    }

    /// A field is a text, or a list of bytes if it is not printable text.
    private static func text(_ field: JSONValue?) -> String? {
        guard case .array(let bytes)? = field else { return field?.text }
        return String(decoding: bytes.compactMap { $0.integer.flatMap { UInt8(exactly: $0) } }, as: UTF8.self)
    }
}
