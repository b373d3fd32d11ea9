import Glibc
import Takes

@testable import SoundCard

/// A scripted PCM behind the calls of the playback queue: mono, 16 bits, 1 kHz, so that a frame is a millisecond.
final class ScriptedSpeaker {
    static let format = StreamFormat(rateHz: 1000, channels: 1, sampleFormat: .s16)

    /// The results of writes. After the last one, a write accepts all frames.
    var writes: [Int] = []
    /// The reported numbers of queued frames. A value from −99,999 to −1 is an error code.
    var delays: [Int] = []
    /// The numbers of frames that can be taken back. After the last one, 400.
    var rewindables: [Int] = []
    /// The results of taking back. After the last one, the requested number of frames.
    var rewinds: [Int] = []
    var prepares: [Int32] = []
    var resumes: [Int32] = []
    var isGone = false
    var trace: [String] = []
    /// The frames that were written and accepted.
    var played: [Int16] = []

    private func next<Value>(_ queue: inout [Value], or value: Value) -> Value {
        queue.isEmpty ? value : queue.removeFirst()
    }

    private static func of(_ pointer: OpaquePointer) -> ScriptedSpeaker {
        Unmanaged<ScriptedSpeaker>.fromOpaque(UnsafeRawPointer(pointer)).takeUnretainedValue()
    }

    static let calls = PlaybackCalls(
        write: { pcm, bytes, wanted in
            let pcm = of(pcm)
            let count = min(wanted, pcm.next(&pcm.writes, or: wanted))
            pcm.trace.append("write \(wanted): \(count)")
            let samples = bytes.assumingMemoryBound(to: Int16.self)
            pcm.played += (0..<max(0, count)).map { samples[$0] }
            return count
        },
        delay: { pcm, frames in
            let delay = of(pcm).next(&of(pcm).delays, or: 0)
            of(pcm).trace.append("delay: \(delay)")
            frames.pointee = delay
            // A card may report a negative number of queued frames. Lower values stand for that, without an error.
            return delay < 0 && delay > -100_000 ? Int32(delay) : 0
        },
        rewindable: { of($0).next(&of($0).rewindables, or: 400) },
        rewind: { pcm, wanted in
            let count = min(wanted, of(pcm).next(&of(pcm).rewinds, or: wanted))
            of(pcm).trace.append("rewind \(wanted): \(count)")
            return count
        },
        prepare: { pcm in
            of(pcm).trace.append("prepare")
            return of(pcm).next(&of(pcm).prepares, or: 0)
        },
        resume: { pcm in
            of(pcm).trace.append("resume")
            return of(pcm).next(&of(pcm).resumes, or: 0)
        },
        drop: { pcm in
            of(pcm).trace.append("drop")
            return 0
        },
        isGone: { of($0).isGone })

    /// A queue of this speaker, which must outlive it.
    func queue(canTakeBack: Bool = true, movesByPeriods: Bool = false) -> PlaybackQueue {
        PlaybackQueue(
            pcm: OpaquePointer(Unmanaged.passUnretained(self).toOpaque()), calls: Self.calls, name: "hw:CARD=Speaker",
            grant: OpenPCM.Grant(
                format: Self.format, periodFrames: 20, bufferFrames: 500, movesByPeriods: movesByPeriods),
            canTakeBack: canTakeBack)
    }
}
