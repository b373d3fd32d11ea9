import Takes

/// The valid ranges of a sidecar's figures and names. A recorder never comes near these limits. A file from another
/// program, or from a corrupt disk, may contain anything. Sums of frames must not overflow, and names of parts must not
/// lead to other files.
public enum SidecarLimits {
    /// The frames of a take, and positions in it.
    public static let frames = TakeFrame.first.count...TakeFrame.last.count
    public static let rateHz = 1...10_000_000
    public static let channels = 1...1024

    /// The first key with an invalid value, such as `parts.1.frames`, or nil if all values are valid.
    static func firstBroken(by sidecar: Sidecar) -> String? {
        let own: [(String, Bool)] = [
            ("number", (0...TakeName.highestNumber).contains(sidecar.number)),
            ("frames", frames.contains(sidecar.frames)),
            ("rate_hz", rateHz.contains(sidecar.rateHz)),
            ("channels", channels.contains(sidecar.channels)),
            ("channels_of_card", isOneEach(sidecar.channelsOfCard, of: sidecar.channels)),
            ("pre_roll_frames", frames.contains(sidecar.preRollFrames)),
        ]
        if let broken = own.first(where: { !$0.1 }) { return broken.0 }
        var files: Set<String> = []
        for (index, part) in sidecar.parts.enumerated() {
            if !isFile(part.file, of: sidecar.take) || !files.insert(part.file).inserted {
                return "parts.\(index).file"
            }
            if let twin = part.unfilteredFile, !isFile(twin, of: sidecar.take) || !files.insert(twin).inserted {
                return "parts.\(index).unfiltered_file"
            }
            if !isFrame(part.firstFrame) { return "parts.\(index).first_frame" }
            if !frames.contains(part.frames) { return "parts.\(index).frames" }
            if let count = part.unfilteredFrames, !frames.contains(count) { return "parts.\(index).unfiltered_frames" }
            if !rateHz.contains(part.rateHz) { return "parts.\(index).rate_hz" }
        }
        for (index, gap) in sidecar.gaps.enumerated() {
            if !isFrame(gap.atFrame) { return "gaps.\(index).at_frame" }
            if !frames.contains(gap.frames) { return "gaps.\(index).frames" }
            if let count = gap.count, count < 1 || !frames.contains(Int64(count)) { return "gaps.\(index).count" }
            if let until = gap.untilFrame, !isFrame(until) || until < gap.atFrame { return "gaps.\(index).until_frame" }
        }
        for (index, marker) in sidecar.markers.enumerated() {
            if !isFrame(marker.atFrame) { return "markers.\(index).at_frame" }
            if let end = marker.endFrame, !isFrame(end) || end < marker.atFrame { return "markers.\(index).end_frame" }
        }
        if let index = sidecar.filter.firstIndex(where: { !isFrame($0.atFrame) }) {
            return "filter.\(index).at_frame"
        }
        if let index = sidecar.gain.firstIndex(where: { !isFrame($0.atFrame) }) {
            return "gain.\(index).at_frame"
        }
        if let index = sidecar.clockMap.firstIndex(where: { !isFrame($0.atFrame) }) {
            return "clock_map.\(index).at_frame"
        }
        for (index, loss) in sidecar.suspectedLosses.enumerated() {
            if !isFrame(loss.afterFrame) { return "suspected_losses.\(index).after_frame" }
            if !isFrame(loss.beforeFrame) { return "suspected_losses.\(index).before_frame" }
            if !frames.contains(loss.frames) { return "suspected_losses.\(index).frames" }
        }
        return nil
    }

    /// Returns true if each channel has a valid number, or if `numbers` is nil.
    private static func isOneEach(_ numbers: [Int]?, of count: Int) -> Bool {
        numbers.map { $0.count == count && $0.allSatisfy(channels.contains) } ?? true
    }

    private static func isFrame(_ frame: TakeFrame) -> Bool { frames.contains(frame.count) }

    /// Whether it is the name of an audio file of the take, in the sidecar's own folder.
    private static func isFile(_ file: String, of stem: String) -> Bool {
        guard file.utf8.count <= 255, file.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") }) else {
            return false
        }
        return TakeName(stem: stem, day: "")?.mayOwn(file) == true
    }
}
