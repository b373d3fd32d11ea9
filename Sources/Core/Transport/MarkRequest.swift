public import Takes

/// A request for a marker, with its time or its frame.
public struct MarkRequest: Hashable, Sendable {
    /// The take to mark, or nil for the one that is being recorded.
    public var take: TakeReference?
    public var place: Place
    public var content: Sidecar.Marker.Content

    public enum Place: Hashable, Sendable {
        /// The frame that is sampled now.
        case now
        /// A frame of the take.
        case frame(TakeFrame)
        /// The frame that was sampled at a time.
        case past(PastTime)
    }

    public init(_ place: Place = .now, of take: TakeReference? = nil, content: Sidecar.Marker.Content) {
        self.place = place
        self.take = take
        self.content = content
    }

    /// The valid edges of a marked band.
    public static let hertz = 0.0...10_000_000

    /// The problem and the allowed values, beginning with the key, or nil if the request is valid.
    public var problem: String? {
        let frames = "allowed is a frame from 0 to \(TakeFrame.last.count)"
        switch place {
        case .now: break
        case .frame(let frame):
            guard (.first ... .last).contains(frame) else { return "at_frame: found \(frame.count), \(frames)" }
            if let end = content.endFrame, end < frame {
                return
                    "end_frame: found \(end.count), at_frame is \(frame.count): give the frame behind the region's last one"
            }
        case .past(let time): if let problem = time.problem { return problem }
        }
        if let end = content.endFrame, !(.first ... .last).contains(end) {
            return "end_frame: found \(end.count), \(frames)"
        }
        if let score = content.score, !(0...1).contains(score) {
            return "score: found \(score), allowed is a number from 0 to 1"
        }
        for (key, hertz) in [("low_hz", content.lowHz), ("high_hz", content.highHz)] {
            if let hertz, !Self.hertz.contains(hertz) {
                return "\(key): found \(hertz), allowed is a frequency from 0 to 10000000 Hz"
            }
        }
        if let low = content.lowHz, let high = content.highHz, low >= high {
            return "low_hz: found \(low), high_hz is \(high): give the lower edge as low_hz"
        }
        for (key, text) in [("label", content.label), ("by", content.by)] {
            guard let text else { continue }
            if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
                return "\(key): found a control character, allowed is one line of text"
            }
            if !(1...Sidecar.Marker.Content.longestName).contains(text.utf8.count) {
                return "\(key): found \(text.utf8.count) bytes, allowed are 1 to \(Sidecar.Marker.Content.longestName)"
            }
        }
        return nil
    }
}
