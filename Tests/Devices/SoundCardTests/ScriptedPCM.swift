import CALSA
import Glibc
import Takes
import Workers

@testable import Ring
@testable import SoundCard

/// A scripted PCM behind the calls of the capture loop. Its frames are numbered, with 16 bits and 1 kHz, so that a
/// frame is a millisecond. It is mono, unless `layout` has more channels; each channel is 1000 above the previous one.
final class ScriptedPCM {
    static let format = StreamFormat(rateHz: 1000, channels: 1, sampleFormat: .s16)
    static let periodFrames = 100

    var layout = ChannelLayout(all: 1)
    /// The results of waiting. After the last one, a stop is requested.
    var waits: [Int32] = []
    /// The result of waiting when a reader that waits for frames has come.
    static let hurried: Int32 = 1000
    /// The results of changes of the wake-up size.
    var paces: [Int32] = []
    /// The timestamps: status, available frames, milliseconds.
    var stamps: [(status: Int32, available: Int, milliseconds: Int64)] = []
    /// The results of reads. After the last one, a read returns the requested number of frames.
    var reads: [Int] = []
    var eventResults: [Int32] = []
    var prepares: [Int32] = []
    var starts: [Int32] = []
    var resumes: [Int32] = []
    var isGone = false
    /// The time of the clock, which advances by a millisecond with each read.
    var milliseconds: Int64 = 0
    /// How far `CLOCK_MONOTONIC_RAW` is ahead, in nanoseconds.
    var rawLead: Int64 = 0
    var trace: [String] = []
    private var frameNumber: Int16 = 0

    private func next<Value>(_ queue: inout [Value], or value: Value) -> Value {
        queue.isEmpty ? value : queue.removeFirst()
    }

    private static func of(_ pointer: OpaquePointer) -> ScriptedPCM {
        Unmanaged<ScriptedPCM>.fromOpaque(UnsafeRawPointer(pointer)).takeUnretainedValue()
    }

    var pointer: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }

    var device: CaptureDevice {
        CaptureDevice(
            pcm: pointer,
            waitCall: { pcm, descriptors, count, milliseconds in
                let pcm = ScriptedPCM.of(pcm)
                pcm.trace.append(count == 1 ? "wait for stop \(milliseconds)" : "wait \(milliseconds)")
                guard !pcm.waits.isEmpty else {
                    descriptors[0].revents = Int16(POLLIN)
                    return 1
                }
                let ready = pcm.waits.removeFirst()
                guard ready == ScriptedPCM.hurried else { return ready }
                descriptors[1].revents = Int16(POLLIN)
                return 1
            },
            eventsCall: { pcm, _, _ in ScriptedPCM.of(pcm).next(&ScriptedPCM.of(pcm).eventResults, or: Int32(POLLIN)) },
            timestampCall: { pcm, available, time in
                let stamp = ScriptedPCM.of(pcm).next(&ScriptedPCM.of(pcm).stamps, or: (0, 0, 0))
                available.pointee = stamp.available
                time.pointee = timespec(
                    tv_sec: Int(stamp.milliseconds / 1000), tv_nsec: Int(stamp.milliseconds % 1000) * 1_000_000)
                return stamp.status
            },
            syncCall: { pcm in
                ScriptedPCM.of(pcm).trace.append("sync")
                return 0
            },
            readCall: { pcm, bytes, wanted in
                let pcm = ScriptedPCM.of(pcm)
                let count = min(wanted, pcm.next(&pcm.reads, or: wanted))
                pcm.trace.append("read \(wanted): \(count)")
                let samples = bytes.assumingMemoryBound(to: Int16.self)
                for index in 0..<max(0, count) {
                    for channel in 0..<pcm.layout.cardChannels {
                        samples[index * pcm.layout.cardChannels + channel] = pcm.frameNumber + 1000 * Int16(channel)
                    }
                    pcm.frameNumber += 1
                }
                return count
            },
            wakeCall: { pcm, frames in
                ScriptedPCM.of(pcm).trace.append("wake at \(frames)")
                return ScriptedPCM.of(pcm).next(&ScriptedPCM.of(pcm).paces, or: 0)
            },
            prepareCall: { pcm in
                ScriptedPCM.of(pcm).trace.append("prepare")
                return ScriptedPCM.of(pcm).next(&ScriptedPCM.of(pcm).prepares, or: 0)
            },
            startCall: { pcm in
                ScriptedPCM.of(pcm).trace.append("start")
                return ScriptedPCM.of(pcm).next(&ScriptedPCM.of(pcm).starts, or: 0)
            },
            resumeCall: { pcm in
                ScriptedPCM.of(pcm).trace.append("resume")
                return ScriptedPCM.of(pcm).next(&ScriptedPCM.of(pcm).resumes, or: 0)
            },
            isGoneCall: { ScriptedPCM.of($0).isGone },
            nowCall: { pcm in
                ScriptedPCM.of(pcm).milliseconds += 1
                return ScriptedPCM.of(pcm).milliseconds * 1_000_000
            },
            rawLeadCall: { ScriptedPCM.of($0).rawLead })
    }

    /// A ring for one second of sound.
    static func ring() -> Ring {
        Ring(format: format, holding: .seconds(1), periodFrames: periodFrames)
    }

    func loop(bufferFrames: Int = 1000) throws -> CaptureLoop {
        var format = Self.format
        format.channels = layout.kept.count
        return try CaptureLoop(
            device: device, format: format, layout: layout, periodFrames: Self.periodFrames,
            bufferFrames: bufferFrames, pollDescriptors: [pollfd()])
    }

    /// A loop that has run until it was stopped or ended.
    func run(into ring: Ring, bufferFrames: Int = 1000) throws -> (outcome: CaptureLoop.Outcome, loop: CaptureLoop) {
        let loop = try loop(bufferFrames: bufferFrames)
        loop.begin(ring)
        return (loop.run(into: ring), loop)
    }
}

extension Ring {
    /// All stamps, in a readable form.
    var story: [String] {
        (0..<stampNumber).compactMap { stamp(number: $0) }.map { stamp in
            "\(stamp.kind) at \(stamp.position), \(stamp.instant.nanoseconds / 1_000_000) ms"
                + (stamp.lost == 0 ? "" : ", lost \(stamp.lost)")
        }
    }

    /// The samples of a ring that has not wrapped.
    var samples: [Int16] {
        withFrames(from: .start, atMost: position.count) { Array($0.assumingMemoryBound(to: Int16.self)) }
    }
}
