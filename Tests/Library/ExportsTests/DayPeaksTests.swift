import DiskCalls
import Files
import TakeFiles
import Takes
import TestBench
import Testing

@testable import Exports

@Suite(.waitsOnNamedThreads) struct DayPeaksTests {
    private let folder = TestFolder()
    private let pyramid: WaveformPyramid

    init() throws { pyramid = try WaveformPyramid(in: "\(folder.path)/levels") }

    /// A take of noise of full scale, with the peak that its sidecar says.
    private func take(parts: [(first: Int64, frames: Int64)], peak: Double?) throws -> (MadeTake, Sidecar) {
        let take = try MadeTake(channels: 1, parts: parts)
        var sidecar = take.sidecar
        sidecar.levels = [
            Sidecar.Levels(peakDBFS: peak, rmsDBFS: peak, clippedFrames: 0, filterClippedFrames: 0)
        ]
        return (take, sidecar)
    }

    @Test func `a take in one column has the peak of its sidecar, without a file`() throws {
        let (_, sidecar) = try take(parts: [(0, 48_000)], peak: -31.25)
        var peaks = DayPeaks(DayColumns(4, of: 0..<40))
        peaks.add(sidecar, at: 12, in: nil, pyramid)
        #expect(peaks.peaks == [nil, -31.3, nil, nil])
        // Across two columns its waveform is needed.
        peaks.add(sidecar, at: 29.5, in: nil, pyramid)
        #expect(peaks.peaks == [nil, -31.3, nil, nil])
    }

    @Test func `a take in several columns has the peaks of its waveform, at most its own, and none between its parts`()
        throws
    {
        let (take, sidecar) = try take(parts: [(0, 96_000), (240_000, 48_000)], peak: 0)
        var peaks = DayPeaks(DayColumns(8, of: 0..<8))
        peaks.add(sidecar, at: 1, in: take.folder, pyramid)
        // Noise of full scale: 127 of 128.
        #expect(peaks.peaks == [nil, 0, 0, nil, nil, nil, 0, nil])
        var quiet = sidecar
        quiet.levels[0].peakDBFS = -20
        var limited = DayPeaks(DayColumns(8, of: 0..<8))
        limited.add(quiet, at: 1, in: take.folder, pyramid)
        #expect(limited.peaks == [nil, -20, -20, nil, nil, nil, -20, nil])
        limited.add(sidecar, at: 1, in: take.folder, pyramid)
        #expect(limited.peaks == peaks.peaks)
    }

    @Test(arguments: [(1e308, 1000.0), (-1e308, -1000)])
    func `a peak that a disk damaged stays a number of JSON`(peak: Double, level: Double) throws {
        let (_, sidecar) = try take(parts: [(0, 48_000)], peak: peak)
        var peaks = DayPeaks(DayColumns(1, of: 0..<40))
        peaks.add(sidecar, at: 12, in: nil, pyramid)
        #expect(peaks.peaks == [level])
    }

    @Test func `a silent take, and one without its waveform, have no levels`() throws {
        let (take, silent) = try take(parts: [(0, 96_000)], peak: nil)
        var peaks = DayPeaks(DayColumns(2, of: 0..<2))
        peaks.add(silent, at: 0, in: take.folder, pyramid)
        var loud = silent
        loud.levels[0].peakDBFS = -1
        peaks.add(loud, at: 0, in: "\(folder.path)/nowhere", pyramid)
        #expect(peaks.peaks == [nil, nil])
    }

    @Test func `a long waveform is read from its levels`() throws {
        var (_, sidecar) = try take(parts: [(0, 1000)], peak: 0)
        sidecar.parts[0].frames = 256 * 110_000
        var pairs = [Int8](repeating: 0, count: 2 * 110_000)
        pairs[2 * 55_500] = -100
        folder.write(PeaksFile(rateHz: 48_000, channels: 1, pairs: pairs).bytes, to: "\(sidecar.take).dat")
        var peaks = DayPeaks(DayColumns(10, of: 0..<256.0 * 110_000 / 48_000))
        peaks.add(sidecar, at: 0, in: folder.path, pyramid)
        // The middle of the levels that are shown as 0 is -48.2 dB.
        var expected = [Double?](repeating: -48.2, count: 10)
        expected[5] = -2.1
        #expect(peaks.peaks == expected)
        #expect(try FileSystem().entries("\(folder.path)/levels") == ["\(sidecar.take).levels"])
    }
}
