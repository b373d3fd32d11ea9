extension Sidecar {
    /// A place that a person, or a program, marked.
    @dynamicMemberLookup
    public struct Marker: Codable, Hashable, Sendable {
        /// The frame of the take that was sampled when the button was pressed, or that the marker was dated to.
        public var atFrame: TakeFrame
        /// What the marker says.
        public var content: Content

        /// What a marker says, without its place. As JSON these are keys of the marker; those without a value are left out, but `note`.
        public struct Content: Codable, Hashable, Sendable {
            /// What the person wrote; null for a button.
            @ExplicitNull public var note: String?
            /// The frame behind the last one of the region that it marks, or nil for a point.
            public var endFrame: TakeFrame?
            /// What was found there, such as a species.
            public var label: String?
            /// Who set it: a person or a program.
            public var by: String?
            /// How sure a program is, 0 to 1.
            public var score: Double?
            /// The lower edge of what was found, in Hz.
            public var lowHz: Double?
            /// The upper edge of what was found, in Hz.
            public var highHz: Double?

            /// A point with a note.
            public init(note: String? = nil) { self.note = note }

            enum CodingKeys: String, CodingKey {
                case note, label, by, score
                case endFrame = "end_frame"
                case lowHz = "low_hz"
                case highHz = "high_hz"
            }
        }

        /// A marker at a frame of the take.
        public init(atFrame: TakeFrame, note: String?) {
            self.init(atFrame: atFrame, Content(note: note))
        }

        /// A marker at a frame of the take.
        public init(atFrame: TakeFrame, _ content: Content) {
            self.atFrame = atFrame
            self.content = content
        }

        /// Reads an object.
        public init(from decoder: any Decoder) throws {
            atFrame = try decoder.container(keyedBy: CodingKeys.self).decode(TakeFrame.self, forKey: .atFrame)
            content = try Content(from: decoder)
        }

        /// Writes an object.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(atFrame, forKey: .atFrame)
            try content.encode(to: encoder)
        }

        /// What the marker says.
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
    /// The most bytes of a label, and of who set a marker.
    public static let longestName = 200

    /// The texts that a search finds it by.
    public var words: [String] { [note, label, by].compactMap(\.self) }
}

extension Sidecar.Marker.Content {
    /// Reads the keys of a marker. Those that this version adds to a note read as missing if they are of another kind: a take is worth more.
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
    /// The same, counted from another frame; none lies before the first.
    public func moved(by frames: Int64) -> Sidecar.Marker {
        var content = content
        content.endFrame = content.endFrame.map { max(.first, $0 + frames) }
        return Sidecar.Marker(atFrame: max(.first, atFrame + frames), content)
    }

    /// Keeps the region's end behind its begin, and in front of the end of the take.
    public mutating func endRegion(before end: TakeFrame) {
        if let last = content.endFrame { content.endFrame = max(atFrame, min(last, end)) }
    }
}
