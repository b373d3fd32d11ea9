extension TakeNotes {
    /// A person's change to a take's markers after its end. The sidecar keeps the markers that were set during the
    /// recording.
    public struct MarkerChange: Hashable, Sendable {
        public var atFrame: TakeFrame
        /// The person's text, or null.
        @ExplicitNull public var note: String?
        /// Whether the person removed the marker.
        public var removed: Bool
        public var region: RegionChange

        /// Sets a marker.
        public init(atFrame: TakeFrame, note: String?, region: RegionChange = .kept) {
            self.atFrame = atFrame
            self.note = note
            removed = false
            self.region = region
        }
    }

    /// A person's change to the region of a marker.
    public enum RegionChange: Hashable, Sendable {
        /// The region is the recorded one, if there is one.
        case kept
        /// The marker is a point, even if a region was recorded.
        case removed
        case set(MarkedRegion)
    }

    /// In bytes.
    public static let longestMarkerNote = 1000
    /// The number of markers that a person can set or remove after the end of a take.
    public static let mostMarkerChanges = 500

    /// The current markers of a take, by frame: the sidecar's markers with people's changes. A changed note leaves the
    /// region, the label and `by` as they were.
    public func markers(of sidecar: [Sidecar.Marker]) -> [Sidecar.Marker] {
        guard !markers.isEmpty else { return sidecar }
        let changed = Set(markers.map(\.atFrame))
        let recorded = Dictionary(sidecar.map { ($0.atFrame, $0) }) { first, _ in first }
        let set = markers.filter { !$0.removed }.map { change in
            var marker = recorded[change.atFrame] ?? Sidecar.Marker(atFrame: change.atFrame, note: nil)
            marker.note = change.note
            change.region.apply(to: &marker)
            return marker
        }
        return (sidecar.filter { !changed.contains($0.atFrame) } + set).sorted { $0.atFrame < $1.atFrame }
    }

    /// Adds a marker, or changes an existing one. A region that is kept may be that of an earlier change.
    public mutating func setMarker(_ marker: MarkerChange) {
        var marker = marker
        if marker.region == .kept, let earlier = markers.first(where: { $0.atFrame == marker.atFrame }) {
            marker.region = earlier.region
        }
        change(marker)
    }

    /// Removes all markers at a frame.
    /// - Parameter sidecar: the markers that were set during the recording. Only their removal must be stored.
    public mutating func removeMarker(at frame: TakeFrame, of sidecar: [Sidecar.Marker]) {
        if sidecar.contains(where: { $0.atFrame == frame }) {
            var removal = MarkerChange(atFrame: frame, note: nil)
            removal.removed = true
            change(removal)
        } else {
            markers.removeAll { $0.atFrame == frame }
        }
    }

    private mutating func change(_ change: MarkerChange) {
        markers.removeAll { $0.atFrame == change.atFrame }
        markers.append(change)
        markers.sort { $0.atFrame < $1.atFrame }
    }
}

extension TakeNotes.RegionChange {
    /// The change that makes the region of a recorded marker that of another one. Nil stands for no recorded marker.
    /// - Parameter end: the frame after the take's last one, where the region ends at the latest.
    init(from recorded: Sidecar.Marker?, to marker: Sidecar.Marker, before end: TakeFrame) {
        let (old, new) = (recorded?.content, marker.content)
        if (old?.endFrame, old?.lowHz, old?.highHz) == (new.endFrame, new.lowHz, new.highHz) {
            self = .kept
        } else if let region = MarkedRegion(of: marker, before: end) {
            self = .set(region)
        } else {
            self = old?.endFrame == nil ? .kept : .removed
        }
    }

    fileprivate func apply(to marker: inout Sidecar.Marker) {
        switch self {
        case .kept: break
        case .removed: (marker.endFrame, marker.lowHz, marker.highHz) = (nil, nil, nil)
        case .set(let region):
            (marker.endFrame, marker.lowHz, marker.highHz) = (region.end, region.band?.lowHz, region.band?.highHz)
        }
    }
}

extension TakeNotes.MarkerChange {
    /// Ends the region with the take.
    mutating func endRegion(before end: TakeFrame) {
        guard case .set(let whole) = region, whole.end > end else { return }
        let cut = try? MarkedRegion(
            from: atFrame, to: end, lowHz: whole.band?.lowHz, highHz: whole.band?.highHz)
        region = cut.map(TakeNotes.RegionChange.set) ?? .removed
    }
}

/// In JSON the region's values are keys of the marker: `end_frame`, and `low_hz` and `high_hz` if it has a band. They
/// are omitted if the region is kept; `end_frame` is null if the region is removed.
extension TakeNotes.MarkerChange: Codable {
    enum CodingKeys: String, CodingKey {
        case note, removed
        case atFrame = "at_frame"
        case endFrame = "end_frame"
        case lowHz = "low_hz"
        case highHz = "high_hz"
    }

    /// Reads a change. A region that is not possible reads as missing: the note must not be lost with it.
    public init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        atFrame = try keys.decode(TakeFrame.self, forKey: .atFrame)
        _note = try keys.decode(ExplicitNull<String>.self, forKey: .note)
        removed = try keys.decode(Bool.self, forKey: .removed)
        let end = try? keys.decodeIfPresent(TakeFrame.self, forKey: .endFrame)
        let low = try? keys.decodeIfPresent(Double.self, forKey: .lowHz)
        let high = try? keys.decodeIfPresent(Double.self, forKey: .highHz)
        if let found = try? MarkedRegion(from: atFrame, to: end, lowHz: low, highHz: high) {
            region = .set(found)
        } else {
            let isNull = keys.contains(.endFrame) && (try? keys.decodeNil(forKey: .endFrame)) == true
            region = isNull ? .removed : .kept
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var keys = encoder.container(keyedBy: CodingKeys.self)
        try keys.encode(atFrame, forKey: .atFrame)
        try keys.encode(_note, forKey: .note)
        try keys.encode(removed, forKey: .removed)
        switch region {
        case .kept: break
        case .removed: try keys.encodeNil(forKey: .endFrame)
        case .set(let region):
            try keys.encode(region.end, forKey: .endFrame)
            try keys.encodeIfPresent(region.band?.lowHz, forKey: .lowHz)
            try keys.encodeIfPresent(region.band?.highHz, forKey: .highHz)
        }
    }
}
