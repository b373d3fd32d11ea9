import Files
import TakePlaces
import Takes
import TestBench
import Testing
import Workers

@testable import Recording
@testable import TakeFiles

/// The date is set while a take is recorded, or in its tail. All points of the take's clock map must use the calendar
/// that was set last.
struct SetClockTests {
    private static let mono = StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .s16)
    /// A clock that was never set begins years ago; a person sets it, a service steps it, somebody sets it back.
    enum Setting: CaseIterable {
        case forward, back, twice, byNTP, thereAndBack

        var steps: [Duration] {
            switch self {
            case .forward: [.seconds(31_536_000)]
            case .back: [.seconds(-31_536_000)]
            case .twice: [.seconds(86_400 * 365), .seconds(-3600)]
            case .byNTP: [.milliseconds(130)]
            case .thereAndBack: [.seconds(7200), .seconds(-7200)]
            }
        }

        /// The origin of the date before it is set.
        var origin: ClockOrigin {
            switch self {
            case .forward, .back, .twice: .unset
            case .byNTP, .thereAndBack: .ntp
            }
        }
    }

    private func set(_ studio: Studio, by step: Duration, isTold: Bool = true) {
        studio.clock.set(by: step)
        let truth = TrueStart(bootID: "boot", offset: studio.clock.offset(), origin: .ntp)
        if isTold { studio.writer.post(.date(truth)) }
    }

    /// Checks that all points of a map are dated by one calendar: the studio's current one.
    private func check(_ sidecar: Sidecar, _ studio: Studio, _ comment: Comment) {
        let offset = studio.clock.offset().microseconds
        #expect(sidecar.clockMap.count >= 2, comment)
        for point in sidecar.clockMap {
            let utc = point.utc.flatMap { WallTime(iso8601: $0) }
            // The studio's raw clock is its monotonic one.
            #expect(
                utc.map { $0.microseconds - point.rawNs / 1000 } == offset, "\(comment), frame \(point.atFrame.count)")
        }
        let begun = sidecar.begun.map { $0.microseconds - sidecar.startedMonotonicNs / 1000 }
        #expect(begun.map { abs($0 - offset) < 100_000 } == true, comment)
    }

    @Test(arguments: Setting.allCases) func `in a take`(setting: Setting) throws {
        let studio = try Studio(Self.mono)
        studio.run(.seconds(2))
        studio.begin(origin: setting.origin)
        studio.run(.seconds(25))
        for step in setting.steps {
            set(studio, by: step)
            studio.run(.seconds(45))
        }
        studio.end()
        studio.run(.milliseconds(500))
        check(try #require(studio.finished.last), studio, "\(setting)")
    }

    @Test(arguments: Setting.allCases, [true, false])
    func `in the tail, whoever is told`(setting: Setting, isTold: Bool) throws {
        let studio = try Studio(Self.mono)
        studio.run(.seconds(2))
        studio.begin(origin: setting.origin)
        studio.run(.seconds(45))
        studio.end(keepsTail: true)
        studio.run(.milliseconds(500))
        let name = try #require(try studio.directory.takes().last)
        for step in setting.steps {
            studio.run(.seconds(15))
            set(studio, by: step, isTold: isTold || setting.origin == .unset)
            let truth = TrueStart(bootID: "boot", offset: studio.clock.offset(), origin: .ntp)
            var dating = try TakeDating(studio.directory, truth: truth, kit: "heron07")
            while dating.step() != nil {}
            check(try studio.directory.sidecar(of: name), studio, "finished, \(setting)")
            studio.run(.seconds(15))
        }
        studio.writer.post(.rejoin)
        studio.run(.seconds(40))
        studio.end()
        studio.run(.milliseconds(500))
        check(try #require(studio.finished.last), studio, "\(setting)")
    }

    @Test func `a calendar of unknown origin dates nothing, and what was dated stays`() throws {
        let studio = try Studio(Self.mono)
        studio.run(.seconds(2))
        studio.begin()
        studio.run(.seconds(45))
        let offset = studio.clock.offset().microseconds
        studio.clock.set(by: .seconds(99_999))
        studio.writer.post(.date(TrueStart(bootID: "boot", offset: studio.clock.offset(), origin: .unset)))
        studio.run(.seconds(60))
        studio.end()
        studio.run(.milliseconds(500))
        let sidecar = try #require(studio.finished.last)
        #expect(sidecar.clockMap.contains { $0.utc == nil })
        for point in sidecar.clockMap {
            guard let utc = point.utc.flatMap({ WallTime(iso8601: $0) }) else { continue }
            #expect(utc.microseconds - point.rawNs / 1000 == offset)
        }
    }

    /// When an unknown process sets the date.
    enum Moment: CaseIterable { case inTake, inTail, afterwards }

    @Test(arguments: Moment.allCases, [Duration.seconds(-221_000_000), .seconds(94_000_000)])
    func `a calendar of unknown origin leaves the start and the clock map as they were dated`(
        moment: Moment, step: Duration
    ) throws {
        let studio = try Studio(Self.mono)
        studio.run(.seconds(2))
        studio.begin(origin: .ntp)
        studio.run(.seconds(45))
        let offset = studio.clock.offset().microseconds
        func setUnknown() throws {
            studio.clock.set(by: step)
            let truth = TrueStart(bootID: "boot", offset: studio.clock.offset(), origin: .unset)
            studio.writer.post(.date(truth))
            var dating = try TakeDating(studio.directory, truth: truth, kit: "heron07")
            while dating.step() != nil {}
            studio.run(.seconds(15))
        }
        if moment == .inTake { try setUnknown() }
        studio.end(keepsTail: true)
        studio.run(.milliseconds(500))
        let name = try #require(try studio.directory.takes().last)
        if moment == .inTail {
            try setUnknown()
            studio.writer.post(.rejoin)
            studio.run(.seconds(5))
            studio.end()
            studio.run(.milliseconds(500))
        }
        if moment == .afterwards { try setUnknown() }
        let sidecar = try studio.directory.sidecar(of: name)
        let begun = sidecar.begun.map { $0.microseconds - sidecar.startedMonotonicNs / 1000 }
        #expect(begun.map { abs($0 - offset) < 100_000 } == true)
        #expect(sidecar.startedCorrected == nil && sidecar.revision == (moment == .inTail ? 2 : 1))
        for utc in sidecar.clockMap.compactMap(\.utc).compactMap(WallTime.init(iso8601:)) {
            #expect(abs(utc.microseconds - sidecar.begun!.microseconds) < 200_000_000)
        }
    }

    @Test func `a draft that a crash left is dated like a finished take`() throws {
        let studio = try Studio(Self.mono)
        studio.run(.seconds(2))
        studio.begin(origin: .unset)
        studio.run(.seconds(100))
        let directory = try TakesDirectory(path: studio.path + "-copy")
        let name = try #require(try studio.directory.leftovers().last)
        let files = FileSystem()
        _ = try files.makeFolder("\(directory.path)/\(name.day)")
        for file in try files.entries("\(studio.path)/\(name.day)") {
            let bytes = try files.contents("\(studio.path)/\(name.day)/\(file)", limit: 1 << 24)
            try files.write(bytes, to: files.create("\(directory.path)/\(name.day)/\(file)", isNew: true), at: 0)
        }
        let recovery = TakeRecovery(of: name, in: directory, bootID: "boot")
        while try recovery.step() == nil {}
        studio.clock.set(by: .seconds(3600))
        let truth = TrueStart(bootID: "boot", offset: studio.clock.offset(), origin: .manual)
        var dating = try TakeDating(directory, truth: truth, kit: "heron07")
        while dating.step() != nil {}
        check(try directory.sidecar(of: name), studio, "recovered")
        try directory.remove(name)
    }
}
