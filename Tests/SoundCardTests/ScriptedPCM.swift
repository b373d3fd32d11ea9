import CALSA
import Glibc
import Ring
import Takes

@testable import SoundCard

/// A PCM that does as told, behind the calls that the capture loop makes. Its frames are numbered: mono, 16 bits, 1 kHz,
/// so that a frame is a millisecond.
final class ScriptedPCM {
    static let format = StreamFormat(rateHz: 1000, channels: 1, sampleFormat: .s16)
    static let periodFrames = 100

    /// What waiting returns; after the last, a stop is requested.
    var waits: [Int32] = []
    /// What the timestamps say: status, frames there, milliseconds.
    var stamps: [(status: Int32, available: Int, milliseconds: Int64)] = []
    /// What reads return; after the last, as many as are wanted.
    var reads: [Int] = []
    var eventResults: [Int32] = []
    var prepares: [Int32] = []
    var starts: [Int32] = []
    var resumes: [Int32] = []
    var isGone = false
    /// What the clock says, a millisecond more each time.
    var milliseconds: Int64 = 0
    /// How far the clock that nobody slews is ahead, in nanoseconds.
    var rawLead: Int64 = 0
    /// Every call.
    var trace: [String] = []
    private var frameNumber: Int16 = 0

    private func next<Value>(_ queue: inout [Value], or value: Value) -> Value {
        queue.isEmpty ? value : queue.removeFirst()
    }

    private static func of(_ pointer: OpaquePointer) -> ScriptedPCM {
        Unmanaged<ScriptedPCM>.fromOpaque(UnsafeRawPointer(pointer)).takeUnretainedValue()
    }

    var pointer: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }

    static let calls = CaptureCalls(
        wait: { pcm, descriptors, count, milliseconds in
            let pcm = of(pcm)
            pcm.trace.append(count == 1 ? "wait for stop \(milliseconds)" : "wait \(milliseconds)")
            guard !pcm.waits.isEmpty else {
                descriptors[0].revents = Int16(POLLIN)
                return 1
            }
            return pcm.waits.removeFirst()
        },
        events: { pcm, _, _ in of(pcm).next(&of(pcm).eventResults, or: Int32(POLLIN)) },
        timestamp: { pcm, available, time in
            let stamp = of(pcm).next(&of(pcm).stamps, or: (0, 0, 0))
            available.pointee = stamp.available
            time.pointee = timespec(
                tv_sec: Int(stamp.milliseconds / 1000), tv_nsec: Int(stamp.milliseconds % 1000) * 1_000_000)
            return stamp.status
        },
        read: { pcm, bytes, wanted in
            let pcm = of(pcm)
            let count = min(wanted, pcm.next(&pcm.reads, or: wanted))
            pcm.trace.append("read \(wanted): \(count)")
            let samples = bytes.assumingMemoryBound(to: Int16.self)
            for index in 0..<max(0, count) {
                samples[index] = pcm.frameNumber
                pcm.frameNumber += 1
            }
            return count
        },
        prepare: { pcm in
            of(pcm).trace.append("prepare")
            return of(pcm).next(&of(pcm).prepares, or: 0)
        },
        start: { pcm in
            of(pcm).trace.append("start")
            return of(pcm).next(&of(pcm).starts, or: 0)
        },
        resume: { pcm in
            of(pcm).trace.append("resume")
            return of(pcm).next(&of(pcm).resumes, or: 0)
        },
        isGone: { of($0).isGone },
        now: { pcm in
            of(pcm).milliseconds += 1
            return of(pcm).milliseconds * 1_000_000
        },
        rawLead: { of($0).rawLead })

    /// A ring that holds a second.
    static func ring() -> Ring {
        Ring(format: format, holding: .seconds(1), periodFrames: periodFrames)
    }

    func loop() throws -> CaptureLoop {
        try CaptureLoop(
            pcm: pointer, calls: Self.calls, format: Self.format, periodFrames: Self.periodFrames,
            bufferFrames: 1000, pollDescriptors: [pollfd()])
    }

    /// A loop that ran until it was stopped or ended.
    func run(into ring: Ring) throws -> (outcome: CaptureLoop.Outcome, loop: CaptureLoop) {
        let loop = try loop()
        loop.begin(ring)
        return (loop.run(into: ring), loop)
    }
}

extension Ring {
    /// All its stamps, in a form that is easy to write down.
    var story: [String] {
        (0..<stampNumber).compactMap { stamp(number: $0) }.map { stamp in
            "\(stamp.kind) at \(stamp.position), \(stamp.instant.nanoseconds / 1_000_000) ms"
                + (stamp.lost == 0 ? "" : ", lost \(stamp.lost)")
        }
    }

    /// Its samples, of a ring that has not wrapped.
    var samples: [Int16] {
        withFrames(from: 0, atMost: position) { Array($0.assumingMemoryBound(to: Int16.self)) }
    }
}
