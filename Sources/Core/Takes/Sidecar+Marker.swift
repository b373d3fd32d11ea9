extension Sidecar {
    /// A place that a person or a program marked.
    @dynamicMemberLookup
    public struct Marker: Codable, Hashable, Sendable {
        /// The frame that was sampled when the button was pressed, or the frame that the marker was dated to.
        public var atFrame: TakeFrame
        public var content: Content

        /// The content of a marker, without its frame. In JSON its properties are keys of the marker. Except for
        /// `note`, keys without a value are omitted.
        public struct Content: Codable, Hashable, Sendable {
            /// The person's text, or null for a press of a button.
            @ExplicitNull public var note: String?
            /// The frame after the last one of the marked region, or nil for a point.
            public var endFrame: TakeFrame?
            /// The identification, such as a species.
            public var label: String?
            /// The person or program that set the marker.
            public var by: String?
            /// The program's confidence, from 0 to 1.
            public var score: Double?
            /// The lower edge of the marked band, in Hz.
            public var lowHz: Double?
            /// The upper edge of the marked band, in Hz.
            public var highHz: Double?

            public init(note: String? = nil) { self.note = note }

            enum CodingKeys: String, CodingKey {
                case note, label, by, score
                case endFrame = "end_frame"
                case lowHz = "low_hz"
                case highHz = "high_hz"
            }
        }

        public init(atFrame: TakeFrame, note: String?) {
            self.init(atFrame: atFrame, Content(note: note))
        }

        public init(atFrame: TakeFrame, _ content: Content) {
            self.atFrame = atFrame
            self.content = content
        }

        public init(from decoder: any Decoder) throws {
            atFrame = try decoder.container(keyedBy: CodingKeys.self).decode(TakeFrame.self, forKey: .atFrame)
            content = try Content(from: decoder)
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(atFrame, forKey: .atFrame)
            try content.encode(to: encoder)
        }

        public subscript<Value>(dynamicMember key: WritableKeyPath<Content, Value>) -> Value {
            get { content[keyPath: key] }
            set { content[keyPath: key] = newValue }
        }

        enum CodingKeys: String, CodingKey {
            case atFrame = "at_frame"
        }
    }
}

extension Sidecar.Marker.Content {
    /// The longest `label` and the longest `by`, in bytes.
    public static let longestName = 200

    /// The texts that a search looks through.
    public var words: [String] { [note, label, by].compactMap(\.self) }
}

extension Sidecar.Marker.Content {
    /// Reads the keys of a marker. Every key except `note` reads as missing if its value has another type: the take
    /// must stay readable.
    public init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        _note = try keys.decode(ExplicitNull<String>.self, forKey: .note)
        endFrame = try? keys.decodeIfPresent(TakeFrame.self, forKey: .endFrame)
        label = try? keys.decodeIfPresent(String.self, forKey: .label)
        by = try? keys.decodeIfPresent(String.self, forKey: .by)
        score = try? keys.decodeIfPresent(Double.self, forKey: .score)
        lowHz = try? keys.decodeIfPresent(Double.self, forKey: .lowHz)
        highHz = try? keys.decodeIfPresent(Double.self, forKey: .highHz)
    }
}

extension Sidecar.Marker {
    /// The marker, moved by a number of frames. Frames before the first become the first.
    public func moved(by frames: Int64) -> Sidecar.Marker {
        var content = content
        content.endFrame = content.endFrame.map { max(.first, $0 + frames) }
        return Sidecar.Marker(atFrame: max(.first, atFrame + frames), content)
    }

    /// The marker in a clip of the take, counted from the clip's first frame, or nil if it lies outside of the clip. A
    /// region that lies partly in the clip is cut at its ends.
    public func clipped(to clip: Range<Int64>) -> Sidecar.Marker? {
        let reach = max(atFrame.count, (content.endFrame?.count ?? 0) - 1)
        guard atFrame.count < clip.upperBound, reach >= clip.lowerBound else { return nil }
        var marker = moved(by: -clip.lowerBound)
        marker.endRegion(before: TakeFrame(clip.upperBound - clip.lowerBound))
        return marker
    }

    /// Keeps the end of the region between its start and the end of the take.
    public mutating func endRegion(before end: TakeFrame) {
        if let last = content.endFrame { content.endFrame = max(atFrame, min(last, end)) }
    }
}
